#include "symbols/demangle.h"

#include <ctype.h>
#include <libiberty/demangle.h>
#include <setjmp.h>
#include <stddef.h>
#include <stdlib.h>
#include <string.h>

#include "symbols/short_name.h"

enum {
    RAW_MAX = 8192, /* the demanglers recurse for each letter: this much fits on any stack */
    READABLE_MAX = 1 << 20,
    D_REFERENCES_MAX = 40 /* each may double a name, and dlang_demangle() has no limit */
};

/*
 * --- bounded text ------------------------------------------------------------------------------
 */

struct text {
    char *at;
    size_t size, room;
    jmp_buf too_long;
};

static void append(const char *piece, size_t size, void *user)
{
    struct text *text = user;

    if (size >= text->room - text->size) {
        const size_t room = 2 * (text->size + size) + 128;
        char *at = room <= READABLE_MAX ? realloc(text->at, room) : NULL;

        if (!at)
            longjmp(text->too_long,
                    1); /* NOLINT(cert-err52-cpp): the demanglers have no other way to stop */
        text->at = at;
        text->room = room;
    }
    memcpy(text->at + text->size, piece, size);
    text->size += size;
    text->at[text->size] = '\0';
}

/* A demangler of libiberty. @return 0: not a name of its language */
typedef int read_name(const char *name, int options, demangle_callbackref append, void *user);

/* The text is the caller's: local variables changed behind setjmp() may be lost. */
static bool run(read_name *read, const char *name, int options, struct text *text)
{
    return setjmp(text->too_long) == 0 && read(name, options, append, text) != 0;
}

/* @return for free(); NULL: unchanged */
static char *demangle(read_name *read, const char *name, int options)
{
    struct text text = { .at = NULL };

    if (run(read, name, options, &text))
        return text.at;
    free(text.at);
    return NULL;
}

static char *demangle_d(const char *name)
{
    size_t references = 0;

    for (const char *c = name; *c; c++)
        references += *c == 'Q';
    return references <= D_REFERENCES_MAX ? dlang_demangle(name, DMGL_PARAMS | DMGL_DLANG) : NULL;
}

/* --- which language ---------------------------------------------------------------------------- */

/* Whether a name ends in a hash, as in old Rust: "17h" for its length, 16 digits, and E. */
static bool is_legacy_rust(const char *name)
{
    const char *llvm = strstr(name, ".llvm."); /* adds a number to some names */
    const size_t size = llvm ? (size_t)(llvm - name) : strlen(name);
    const char *hash = size >= 20 ? name + size - 20 : NULL;

    if (strncmp(name, "_ZN", 3) != 0 || !hash || strncmp(hash, "17h", 3) != 0 || hash[19] != 'E')
        return false;
    for (int i = 3; i < 19; i++)
        if (!isxdigit((unsigned char)hash[i]))
            return false;
    return true;
}

/* @return NULL: unchanged */
static char *readable_name(const char *name)
{
    char *readable = NULL;

    if (strlen(name) > RAW_MAX)
        return NULL;
    if (strncmp(name, "_R", 2) == 0 || is_legacy_rust(name))
        readable = demangle(rust_demangle_callback, name, DMGL_NO_OPTS);
    else if (strncmp(name, "_D", 2) == 0)
        return demangle_d(name);
    if (!readable && strncmp(name, "_Z", 2) == 0)
        readable = demangle(cplus_demangle_v3_callback, name,
                            DMGL_PARAMS | DMGL_TYPES | DMGL_NO_RECURSE_LIMIT);
    return readable;
}

char *object_demangle(const char *raw, enum object_name_style style)
{
    char *name = strndup(raw, strcspn(raw, "@")), *readable;

    if (!name || style == OBJECT_NAME_RAW)
        return name;
    readable = readable_name(name);
    if (!readable)
        return name;
    if (style == OBJECT_NAME_SHORT)
        object_shorten_name(readable);
    free(name);
    return readable;
}

bool object_name_style_parse(const char *text, enum object_name_style *out)
{
    static const char *const styles[] = {
        [OBJECT_NAME_FULL] = "full", [OBJECT_NAME_SHORT] = "short", [OBJECT_NAME_RAW] = "raw"
    };

    for (size_t i = 0; i < sizeof styles / sizeof *styles; i++)
        if (strcmp(text, styles[i]) == 0) {
            *out = (enum object_name_style)i;
            return true;
        }
    return false;
}
