/*
 * A header of the tree is implemented by the .c of its name: each function and object that it declares is defined
 * in header.c, or in header_x86_64.c and header_aarch64.c, or in what stands in for it, header_none.c.
 *
 * The sources are read as text, in the format that `./dev lint` holds: a definition starts in column 1, a
 * use does not. A part of `policy.layers`.
 */
#include <criterion/criterion.h>
#include <ctype.h>
#include <glob.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "support/command.h"

enum { NAME_SIZE = 128 };

/* Blanks comments, preprocessor lines, and what stands in braces (the last } becomes a ;). */
static void leave_declarations(char *text)
{
    unsigned depth = 0;
    bool comment = false, directive = false;

    for (char *c = text; *c; c++) {
        if (!comment && c[0] == '/' && c[1] == '*')
            comment = true;
        else if (!comment && c[0] == '#')
            directive = true;
        else if (directive && c[0] == '\n' && c[-1] != '\\')
            directive = false;
        if (comment && c[0] == '*' && c[1] == '/') {
            comment = false;
            c[0] = c[1] = ' ';
        }
        if (!comment && !directive && c[0] == '}' && --depth == 0)
            c[0] = ';';
        depth += !comment && !directive && c[0] == '{';
        if ((comment || directive || depth > 0) && c[0] != '\\')
            c[0] = ' ';
    }
}

static bool has_word(const char *text, const char *word)
{
    size_t size = strlen(word);

    for (const char *at = text; (at = strstr(at, word)); at += size)
        if ((at == text || !(isalnum((unsigned char)at[-1]) || at[-1] == '_')) &&
            !(isalnum((unsigned char)at[size]) || at[size] == '_'))
            return true;
    return false;
}

/*
 * The name that a declaration declares: the sfb_ word before a parenthesis, or the last one of an extern
 * object.
 *
 * @return false: it declares none that a .c would define
 */
static bool declared_name(char out[NAME_SIZE], const char *declaration)
{
    bool object = has_word(declaration, "extern"), found = false;

    if (has_word(declaration, "static") || has_word(declaration, "typedef") ||
        has_word(declaration, "SFB_INLINE"))
        return false;
    for (const char *at = declaration; (at = strstr(at, "sfb_"));) {
        size_t size = strspn(at, "abcdefghijklmnopqrstuvwxyz_0123456789");
        bool function = at[size] == '(';

        if (function || object) {
            snprintf(out, NAME_SIZE, "%.*s", (int)size, at);
            found = true;
        }
        if (function)
            break;
        at += size;
    }
    return found;
}

static bool defines(const char *source, const char *name)
{
    char *text = text_read(source);
    bool found = false;

    for (char *rest = text, *line; (line = strsep(&rest, "\n"));)
        found |= (isalpha((unsigned char)line[0]) || line[0] == '_') && has_word(line, name);
    free(text);
    return found;
}

static bool is_defined_beside(const char *header, const char *name)
{
    static const char *const ends[] = { ".c", "_x86_64.c", "_aarch64.c", "_none.c" };

    for (size_t i = 0; i < sizeof ends / sizeof *ends; i++) {
        char pattern[512];
        glob_t files;
        bool found;

        snprintf(pattern, sizeof pattern, "%.*s%s", (int)strlen(header) - 2, header, ends[i]);
        if (glob(pattern, 0, NULL, &files) != 0)
            continue;
        found = defines(files.gl_pathv[0], name);
        globfree(&files);
        if (found)
            return true;
    }
    return false;
}

static size_t judge_header(const char *header)
{
    char *text = text_read(header), name[NAME_SIZE];
    size_t seen = 0;

    leave_declarations(text);
    for (char *rest = text, *declaration; (declaration = strsep(&rest, ";"));) {
        if (!declared_name(name, declaration))
            continue;
        seen++;
        cr_expect(is_defined_beside(header, name),
                  "%s declares %s, which the .c of its name does not define",
                  header + sizeof SFB_SOURCE_DIR, name);
    }
    free(text);
    return seen;
}

Test(layers, implement_a_header_in_the_c_of_its_name)
{
    static const char *const patterns[] = { "/src/*/*.h", "/src/*/*/*.h", "/profiler/*/*.h",
                                            "/profiler/*/*/*.h" };
    size_t seen = 0;

    for (size_t p = 0; p < sizeof patterns / sizeof *patterns; p++) {
        char pattern[512];
        glob_t files;

        snprintf(pattern, sizeof pattern, "%s%s", SFB_SOURCE_DIR, patterns[p]);
        if (glob(pattern, 0, NULL, &files) != 0)
            continue; /* a clone of the library alone */
        for (size_t i = 0; i < files.gl_pathc; i++)
            seen += judge_header(files.gl_pathv[i]);
        globfree(&files);
    }
    cr_expect_gt(seen, 100); /* declarations are found at all */
}

Test(layers, find_what_a_header_declares)
{
    char text[] =
        "#define X(a) \\\n    sfb_no(a);\n/* sfb_no(); */\nstruct sfb_a { int sfb_no; };\n"
        "static inline int sfb_no(void) { return sfb_no(1); }\nenum sfb_b sfb_yes(struct sfb_a "
        "*);\n"
        "extern const struct sfb_a sfb_object[2];\nvoid sfb_last(void);\n";
    static const char *const want[] = { "sfb_yes", "sfb_object", "sfb_last" };
    char name[NAME_SIZE];
    size_t found = 0;

    leave_declarations(text);
    for (char *rest = text, *declaration; (declaration = strsep(&rest, ";"));) {
        if (!declared_name(name, declaration))
            continue;
        cr_assert_lt(found, sizeof want / sizeof *want, "%s", name);
        cr_expect_str_eq(name, want[found]);
        found++;
    }
    cr_expect_eq(found, sizeof want / sizeof *want);
}
