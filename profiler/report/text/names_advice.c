#include "profiler/report/text/names_advice.h"

#include <fcntl.h>
#include <libelf.h>
#include <stdbool.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "profiler/report/text/package.h"
#include "symbols/build_id.h"
#include "symbols/candidate.h"
#include "symbols/search.h"
#include "util/base_name.h"
#include "util/regular.h"

/* What is here of a module. */
struct local {
    bool there, same, has_names;
};

static struct local look(const char *path, const struct object_build_id *wanted)
{
    const char *cause;
    const int fd = regular_open(path, &cause);
    struct local local = { .there = fd >= 0 };
    struct object_build_id own = { .size = 0 };
    Elf *elf = NULL;

    elf_version(EV_CURRENT);
    if (fd >= 0)
        elf = elf_begin(fd, ELF_C_READ_MMAP, NULL);
    if (elf && elf_kind(elf) == ELF_K_ELF) {
        object_build_id_of(&own, elf);
        local.same = wanted->size == 0 || object_build_id_equal(wanted, &own);
        local.has_names = object_has_section(elf, ".symtab");
    }
    elf_end(elf);
    if (fd >= 0)
        close(fd);
    return local;
}

static bool has_debug_file(const struct object_build_id *id)
{
    char name[OBJECT_BUILD_ID_PATH], path[sizeof OBJECT_DEBUG_FOLDER + sizeof name];

    if (!object_build_id_path(name, id, ".debug"))
        return false;
    snprintf(path, sizeof path, "%s/%s", OBJECT_DEBUG_FOLDER, name);
    return access(path, R_OK) == 0;
}

/* Where files of other machines, and of other versions, come from. */
static void tell_where(char out[REPORT_ADVICE_SIZE], const char *path, const char *state,
                       const struct object_build_id *id)
{
    char text[OBJECT_BUILD_ID_TEXT];

    object_build_id_text(text, id);
    if (id->size > 0)
        snprintf(out, REPORT_ADVICE_SIZE,
                 "--symbol-path with a folder that has %.200s, or --debuginfod: %s; its build-id "
                 "is %s",
                 sfb_base_name(path), state, text);
    else
        snprintf(out, REPORT_ADVICE_SIZE, "--symbol-path with a folder that has %.200s: %s",
                 sfb_base_name(path), state);
}

enum report_advice report_names_advice(const char *path, const uint8_t *build_id,
                                       size_t build_id_size, char out[REPORT_ADVICE_SIZE])
{
    struct object_build_id id = { .size = 0 };
    char package[256];
    struct local local;

    if (path[0] != '/')
        return REPORT_ADVICE_NONE;
    object_build_id_set(&id, build_id, build_id_size);
    local = look(path, &id);
    if (!local.there || !local.same) {
        tell_where(out, path, local.there ? "the file here is another one" : "it is not here", &id);
        return REPORT_ADVICE_TEXT;
    }
    if (local.has_names || has_debug_file(&id)) {
        snprintf(out, REPORT_ADVICE_SIZE,
                 "--top, which has its offsets: %.200s has symbols, and none for this code",
                 sfb_base_name(path));
        return REPORT_ADVICE_TEXT;
    }
    if (report_package_of(package, sizeof package, path)) {
        /* libc6 alone has a package of its own kind; all others are of the archive of debug packages. */
        snprintf(out, REPORT_ADVICE_SIZE, "%s-%s", package,
                 strcmp(package, "libc6") == 0 ? "dbg" : "dbgsym");
        return REPORT_ADVICE_PACKAGE;
    }
    snprintf(out, REPORT_ADVICE_SIZE, "%.200s built with -g and not stripped", sfb_base_name(path));
    return REPORT_ADVICE_TEXT;
}
