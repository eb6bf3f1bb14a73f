/*
 * Each folder of src knows only what stands left of it:
 *
 *     bytes --base--> fields --sframe--> rule --unwind--> frames --cbf--> bytes
 *
 * unwind holds the glue behind the front door and so knows all of them; sframe has never heard of a
 * process, cbf takes frames from anywhere. crash, the crash handler, is a user of unwind, which
 * does not know it.
 *
 * And an architecture is known where it is chosen, and in its own files.
 */
#include <criterion/criterion.h>
#include <fnmatch.h>
#include <glob.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "support/command.h"

struct layer {
    const char *folder;
    const char *own[8];    /* beginnings of "..." includes, besides its own folder */
    const char *system[8]; /* <...> includes; none listed: all */
};

static const struct layer layers[] = {
    { "base",
      { "sfb/api.h", "sfb/status.h" },
      { "stdbool.h", "stddef.h", "stdint.h", "string.h", "assert.h", "limits.h" } },
    { "sframe",
      { "base/", "sfb/status.h", "sfb/rule.h", "sfb/section.h" },
      { "stdbool.h", "stddef.h", "stdint.h", "string.h", "assert.h", "limits.h" } },
    { "eh_frame",
      { "base/", "sfb/status.h", "sfb/rule.h", "sfb/eh_frame.h" },
      { "stdbool.h", "stddef.h", "stdint.h", "string.h", "assert.h", "limits.h" } },
    { "cbf",
      { "base/", "sfb/status.h", "sfb/frame.h", "sfb/cbf.h" },
      { "stdbool.h", "stddef.h", "stdint.h", "string.h", "assert.h", "limits.h" } },
    { "unwind",
      { "base/", "sframe/", "eh_frame/", "cbf/", "sfb/", "sframe_backtrace.h" },
      { NULL } },
    { "crash",
      { "base/", "unwind/", "sfb/", "sframe_backtrace.h", "sframe_backtrace_crash.h" },
      { NULL } },
};

/* It keeps its rules to itself and its names out of the process: two files know it. */
static const char *const libunwind_files[] = { "fallback_libunwind.c", "libunwind_load.c",
                                               "libunwind_load.h" };

static bool starts_with(const char *text, const char *start)
{
    return strncmp(text, start, strlen(start)) == 0;
}

/* Whether a file of a layer may have #include "name". */
static bool may_include_own(const struct layer *layer, const char *name)
{
    /* A bare name is beside the file that includes it. */
    if ((!strchr(name, '/') && !starts_with(name, "sframe_backtrace")) ||
        (starts_with(name, layer->folder) && name[strlen(layer->folder)] == '/'))
        return true;
    for (size_t i = 0; i < 8 && layer->own[i]; i++)
        if (starts_with(name, layer->own[i]))
            return true;
    return false;
}

/* Whether a file of a layer may have #include <name>. */
static bool may_include_system(const struct layer *layer, const char *name)
{
    for (size_t i = 0; i < 8 && layer->system[i]; i++)
        if (strcmp(name, layer->system[i]) == 0)
            return true;
    return !layer->system[0];
}

static bool may_include_libunwind(const char *file)
{
    for (size_t i = 0; i < sizeof libunwind_files / sizeof *libunwind_files; i++)
        if (strcmp(strrchr(file, '/') + 1, libunwind_files[i]) == 0)
            return true;
    return false;
}

/* The name in an #include line, without its quotes; NULL for any other line. */
static char *included(char *line, bool *system)
{
    char *name = line + strspn(line, " \t");

    if (*name++ != '#')
        return NULL;
    name += strspn(name, " \t");
    if (!starts_with(name, "include"))
        return NULL;
    name += strcspn(name, "<\"");
    if (*name == '\0')
        return NULL;
    *system = *name++ == '<';
    name[strcspn(name, ">\"")] = '\0';
    return name;
}

static void judge_file(const struct layer *layer, const char *file)
{
    char *text = text_read(file);

    for (char *rest = text, *line; (line = strsep(&rest, "\n"));) {
        bool system = false;
        const char *name = included(line, &system);

        if (!name)
            continue;
        if (strstr(name, "libunwind") && system)
            cr_expect(may_include_libunwind(file), "%s includes <%s>", file, name);
        else
            cr_expect(system ? may_include_system(layer, name) : may_include_own(layer, name),
                      "%s includes %s", file, name);
    }
    free(text);
}

Test(layers, know_only_what_stands_left_of_them)
{
    for (size_t i = 0; i < sizeof layers / sizeof *layers; i++) {
        char pattern[512];
        glob_t files;

        snprintf(pattern, sizeof pattern, SFB_SOURCE_DIR "/src/%s/*.[chS]", layers[i].folder);
        cr_assert_eq(glob(pattern, 0, NULL, &files), 0, "no files in src/%s", layers[i].folder);
        for (size_t j = 0; j < files.gl_pathc; j++)
            judge_file(&layers[i], files.gl_pathv[j]);
        globfree(&files);
    }
}

Test(layers, are_all_the_folders_of_the_library)
{
    glob_t files;

    cr_assert_eq(glob(SFB_SOURCE_DIR "/src/*/*", 0, NULL, &files), 0);
    for (size_t i = 0; i < files.gl_pathc; i++) {
        const char *name = files.gl_pathv[i] + sizeof SFB_SOURCE_DIR "/src/" - 1;
        bool known = false;

        for (size_t j = 0; j < sizeof layers / sizeof *layers; j++)
            known |= starts_with(name, layers[j].folder) && name[strlen(layers[j].folder)] == '/';
        cr_expect(known, "src/%s is in a folder without a place in the order", name);
    }
    globfree(&files);
}

/* By these a compiler says what it compiles for. */
static const char *const architecture_macros[] = { "__x86_64",  "__amd64",   "__i386",
                                                   "__aarch64", "__AARCH64", "__ARM_" };

static bool may_know_architecture(const char *file)
{
    static const char *const files[] = { "include/sfb/context.h", "src/unwind/arch.h" };
    static const char *const own[] = { "src/unwind/arch_*.[ch]", "src/unwind/capture_*.S" };

    for (size_t i = 0; i < sizeof files / sizeof *files; i++)
        if (strcmp(files[i], file) == 0)
            return true;
    for (size_t i = 0; i < sizeof own / sizeof *own; i++)
        if (fnmatch(own[i], file, FNM_PATHNAME) == 0)
            return true;
    return false;
}

Test(layers, choose_the_architecture_in_one_place)
{
    static const char *const patterns[] = { "include/*.h", "include/*/*.h", "src/*/*.[chS]",
                                            "tools/*.[ch]" };
    size_t seen = 0;

    for (size_t i = 0; i < sizeof patterns / sizeof *patterns; i++) {
        char pattern[512];
        glob_t files;

        snprintf(pattern, sizeof pattern, SFB_SOURCE_DIR "/%s", patterns[i]);
        cr_assert_eq(glob(pattern, 0, NULL, &files), 0, "no files in %s", patterns[i]);
        for (size_t j = 0; j < files.gl_pathc; j++) {
            const char *name = files.gl_pathv[j] + sizeof SFB_SOURCE_DIR;
            char *text = text_read(files.gl_pathv[j]);

            for (size_t k = 0; k < sizeof architecture_macros / sizeof *architecture_macros; k++) {
                bool found = strstr(text, architecture_macros[k]) != NULL;

                seen += found;
                cr_expect(!found || may_know_architecture(name), "%s asks for %s", name,
                          architecture_macros[k]);
            }
            free(text);
        }
        globfree(&files);
    }
    cr_expect_gt(seen, 0); /* the place where it is chosen */
}
