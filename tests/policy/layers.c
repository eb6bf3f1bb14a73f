/*
 * Each folder of src knows only folders above it in this table:
 *
 *     bytes -> fields -> rule -> frames -> bytes
 *     base | sframe, eh_frame | cbf | machine, walk | process | capture | crash
 *
 * Beside the core, for tools: object, recording, recorder, report; for agents: record.
 *
 * Files do not know each other in a circle, either. And an architecture is known where it is chosen, and in
 * its own files. (declared.c: a header is implemented by the .c of its name.)
 */
#include <criterion/criterion.h>
#include <fnmatch.h>
#include <glob.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "support/command.h"

enum { KNOWN_MAX = 10, SYSTEM_MAX = 9 };

struct layer {
    const char *folder;
    const char *knows[KNOWN_MAX];   /* folders of src above it */
    const char *headers[KNOWN_MAX]; /* beginnings of the names of public ones */
    const char *system[SYSTEM_MAX]; /* <...>; none listed: all */
};

#define PURE_NAMES                                                                                 \
    "stdbool.h", "stddef.h", "stdint.h", "string.h", "assert.h", "limits.h", "stdatomic.h"
#define PURE                                                                                       \
    {                                                                                              \
        PURE_NAMES                                                                                 \
    }
#define PURE_AND_ERRNO                                                                             \
    {                                                                                              \
        PURE_NAMES, "errno.h"                                                                      \
    }
#define ANY_SYSTEM                                                                                 \
    {                                                                                              \
        NULL                                                                                       \
    }
#define CORE "base", "sframe", "eh_frame", "cbf", "unwind/machine", "unwind/walk"

static const struct layer layers[] = {
    { "base",
      { NULL },
      { "sfb/api.h", "sfb/abi.h", "sfb/status.h", "sfb/frame.h", "sfb/memory.h" },
      PURE },
    { "sframe", { "base" }, { "sfb/abi.h", "sfb/status.h", "sfb/rule.h", "sfb/section.h" }, PURE },
    { "eh_frame",
      { "base" },
      { "sfb/abi.h", "sfb/status.h", "sfb/rule.h", "sfb/eh_frame.h" },
      PURE },
    { "cbf", { "base" }, { "sfb/status.h", "sfb/frame.h", "sfb/cbf.h", "sfb/image_map.h" }, PURE },
    { "unwind/machine", { "base" }, { "sfb/" }, ANY_SYSTEM },
    /* Nothing of a process: what it may read is given to it. */
    { "unwind/walk",
      { "base", "sframe", "eh_frame", "unwind/machine" },
      { "sfb/" },
      PURE_AND_ERRNO },
    { "unwind/runtime", /* to come */
      { "base", "sframe", "eh_frame", "unwind/machine", "unwind/walk" },
      { "sfb/" },
      PURE },
    { "unwind/process",
      { "base", "sframe", "eh_frame", "unwind/machine", "unwind/walk" },
      { "sfb/" },
      ANY_SYSTEM },
    { "unwind/capture",
      { CORE, "unwind/runtime", "unwind/process" },
      { "sfb/", "sframe_backtrace.h" },
      ANY_SYSTEM },
    { "crash",
      { CORE, "unwind/process", "unwind/capture" },
      { "sfb/", "sframe_backtrace.h", "sframe_backtrace_crash.h" },
      ANY_SYSTEM },
    /* To come; outside of the core library. */
    { "recording", { "base", "cbf" }, { "sfb/" }, ANY_SYSTEM },
    /* Its shared.h is the memory that agents write. */
    { "recorder", { "recording" }, { "sfb/" }, ANY_SYSTEM },
    { "record",
      { "base", "recording", "recorder", "unwind/machine" },
      { "sfb/recording.h", "sfb/abi.h", "sframe_backtrace" },
      ANY_SYSTEM },
    /* The live table of the heap agent, whose hooks call it. It names stacks as they do. */
    { "record/live",
      { "base", "recorder", "record", "unwind/capture" },
      { "sfb/", "sframe_backtrace" },
      ANY_SYSTEM },
    /* It names stacks by the capture's own means: a hook has no time for more. */
    { "record/heap",
      { "recorder", "record", "record/live", "unwind/machine", "unwind/process", "unwind/capture" },
      { "sfb/recording.h", "sfb/context.h", "sframe_backtrace" },
      ANY_SYSTEM },
    { "object", { "base", "sframe", "eh_frame" }, { "sfb/" }, ANY_SYSTEM },
    { "remote", { "base", "unwind/machine", "unwind/walk", "object" }, { "sfb/" }, ANY_SYSTEM },
    { "report", { "base", "recording", "object" }, { "sfb/" }, ANY_SYSTEM },
    { "report/text", { "base", "object", "report" }, { "sfb/" }, ANY_SYSTEM },
    { "report/formats", { "base", "object", "report", "report/text" }, { "sfb/" }, ANY_SYSTEM },
    { "report/page",
      { "base", "object", "report", "report/text", "report/formats" },
      { "sfb/" },
      ANY_SYSTEM },
};

enum { LAYERS = sizeof layers / sizeof *layers };

/* Those that have no files yet. */
static const char *const to_come[] = { "unwind/runtime", "remote" };

static bool starts_with(const char *text, const char *start)
{
    return strncmp(text, start, strlen(start)) == 0;
}

static bool is_in(const char *folder, const char *name)
{
    size_t size = strlen(folder);

    return starts_with(name, folder) && name[size] == '/' && !strchr(name + size + 1, '/');
}

/* Whether a file of a layer may have #include "name". */
static bool may_include_own(const struct layer *layer, const char *name)
{
    if (is_in(layer->folder, name))
        return true;
    for (size_t i = 0; i < KNOWN_MAX; i++)
        if ((layer->knows[i] && is_in(layer->knows[i], name)) ||
            (layer->headers[i] && starts_with(name, layer->headers[i])))
            return true;
    return false;
}

/* Whether a file of a layer may have #include <name>. */
static bool may_include_system(const struct layer *layer, const char *name)
{
    for (size_t i = 0; i < SYSTEM_MAX && layer->system[i]; i++)
        if (strcmp(name, layer->system[i]) == 0)
            return true;
    return !layer->system[0];
}

/*
 * It keeps its rules to itself and its names out of the process: one header includes libunwind's, and only
 * files that have it in their names include that.
 */
static bool may_include_libunwind(const char *file, bool system)
{
    const char *base = strrchr(file, '/') + 1;

    return system ? strcmp(base, "libunwind.h") == 0 : strstr(base, "libunwind") != NULL;
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
        if (starts_with(name, system ? "libunwind" : "unwind/walk/libunwind"))
            cr_expect(may_include_libunwind(file, system), "%s includes %s", file, name);
        if (!system || !starts_with(name, "libunwind"))
            cr_expect(system ? may_include_system(layer, name) : may_include_own(layer, name),
                      "%s includes %s", file, name);
    }
    free(text);
}

static bool is_to_come(const char *folder)
{
    for (size_t i = 0; i < sizeof to_come / sizeof *to_come; i++)
        if (strcmp(to_come[i], folder) == 0)
            return true;
    return false;
}

static int glob_in_source(const char *pattern, glob_t *out)
{
    char path[512];

    snprintf(path, sizeof path, SFB_SOURCE_DIR "%s", pattern);
    return glob(path, 0, NULL, out);
}

Test(layers, know_only_what_stands_above_them)
{
    for (size_t i = 0; i < LAYERS; i++) {
        char pattern[512];
        glob_t files;
        int found;

        snprintf(pattern, sizeof pattern, SFB_SOURCE_DIR "/src/%s/*.[chS]", layers[i].folder);
        found = glob(pattern, 0, NULL, &files);
        cr_expect(found == 0 || is_to_come(layers[i].folder), "no files in src/%s",
                  layers[i].folder);
        for (size_t j = 0; found == 0 && j < files.gl_pathc; j++)
            judge_file(&layers[i], files.gl_pathv[j]);
        if (found == 0)
            globfree(&files);
    }
}

/*
 * Tools know the public headers, src/object, src/recorder, src/report, and the words of a crash report; no reader's
 * insides.
 */
Test(layers, show_tools_what_is_theirs)
{
    static const char *const patterns[] = { "/tools/*.[ch]", "/tools/*/*.[ch]" };
    size_t seen = 0;

    for (size_t p = 0; p < 2; p++) {
        glob_t files;

        cr_assert_eq(glob_in_source(patterns[p], &files), 0);
        for (size_t i = 0; i < files.gl_pathc; i++) {
            char *text = text_read(files.gl_pathv[i]);

            for (char *rest = text, *line; (line = strsep(&rest, "\n"));) {
                bool system = false;
                const char *name = included(line, &system);
                char path[512];

                if (!name || system)
                    continue;
                snprintf(path, sizeof path, SFB_SOURCE_DIR "/src/%s", name);
                if (access(path, F_OK) != 0)
                    continue; /* a tool's */
                seen++;
                cr_expect(is_in("object", name) || is_in("recorder", name) ||
                              starts_with(name, "report/") || strcmp(name, "crash/grammar.h") == 0,
                          "%s includes %s", files.gl_pathv[i], name);
            }
            free(text);
        }
        globfree(&files);
    }
    cr_expect_gt(seen, 10);
}

/* The table itself has no arrow that runs up. */
Test(layers, stand_below_what_they_know)
{
    for (size_t i = 0; i < LAYERS; i++) {
        for (size_t k = 0; k < KNOWN_MAX && layers[i].knows[k]; k++) {
            size_t j = 0;

            while (j < i && strcmp(layers[j].folder, layers[i].knows[k]) != 0)
                j++;
            cr_expect(j < i, "%s knows %s, which does not stand above it", layers[i].folder,
                      layers[i].knows[k]);
        }
    }
}

Test(layers, are_all_the_folders_of_the_library)
{
    static const char *const patterns[] = { "/src/*/*.*", "/src/*/*/*" };

    for (size_t p = 0; p < 2; p++) {
        char pattern[512];
        glob_t files;

        snprintf(pattern, sizeof pattern, "%s%s", SFB_SOURCE_DIR, patterns[p]);
        cr_assert_eq(glob(pattern, 0, NULL, &files), 0);
        for (size_t i = 0; i < files.gl_pathc; i++) {
            const char *name = files.gl_pathv[i] + sizeof SFB_SOURCE_DIR "/src/" - 1;
            bool known = false;

            for (size_t j = 0; j < LAYERS; j++)
                known |= is_in(layers[j].folder, name);
            cr_expect(known, "src/%s is in a folder without a place in the order", name);
        }
        globfree(&files);
    }
}

/* --- Circles of files: a header and the .c of its name count as one ------------------------------- */

enum { FILES_MAX = 1024, ARROWS_MAX = 32, NAME_MAX_SIZE = 128 };

struct node {
    char name[NAME_MAX_SIZE]; /* below src, without what its names end with */
    size_t to[ARROWS_MAX], count;
    enum { NEW, OPEN, DONE } state;
};

static struct node nodes[FILES_MAX];
static size_t node_count;

static size_t node_of(const char *path)
{
    const char *end = strrchr(path, '.');
    int size = (int)(end ? (size_t)(end - path) : strlen(path));
    char name[NAME_MAX_SIZE];

    snprintf(name, sizeof name, "%.*s", size, path);
    for (size_t i = 0; i < node_count; i++)
        if (strcmp(nodes[i].name, name) == 0)
            return i;
    cr_assert_lt(node_count, FILES_MAX);
    memcpy(nodes[node_count].name, name, sizeof name);
    return node_count++;
}

static void add_arrow(size_t from, size_t to)
{
    struct node *n = &nodes[from];

    for (size_t i = 0; i < n->count; i++)
        if (n->to[i] == to)
            return;
    cr_assert_lt(n->count, ARROWS_MAX, "%s", n->name);
    n->to[n->count++] = to;
}

static void add_file(const char *file)
{
    size_t from = node_of(file + sizeof SFB_SOURCE_DIR "/src/" - 1);
    char *text = text_read(file);

    for (char *rest = text, *line; (line = strsep(&rest, "\n"));) {
        bool system = false;
        const char *name = included(line, &system);
        char path[512];
        size_t to;

        if (!name || system)
            continue;
        snprintf(path, sizeof path, SFB_SOURCE_DIR "/src/%s", name);
        if (access(path, F_OK) != 0)
            continue; /* a public one */
        to = node_of(name);
        if (to != from)
            add_arrow(from, to);
    }
    free(text);
}

/* Says which circle a node is in, if an arrow leads back to one that is being looked at. */
static void look_for_circles(size_t at)
{
    nodes[at].state = OPEN;
    for (size_t i = 0; i < nodes[at].count; i++) {
        size_t next = nodes[at].to[i];

        if (nodes[next].state == NEW)
            look_for_circles(next);
        if (nodes[next].state == OPEN)
            cr_expect(false, "%s knows %s, which knows it", nodes[at].name, nodes[next].name);
    }
    nodes[at].state = DONE;
}

static void add_files(const char *pattern)
{
    glob_t files;

    cr_assert_eq(glob(pattern, 0, NULL, &files), 0, "%s", pattern);
    for (size_t i = 0; i < files.gl_pathc; i++)
        add_file(files.gl_pathv[i]);
    globfree(&files);
}

Test(layers, have_no_circle_of_files)
{
    size_t arrows = 0;

    add_files(SFB_SOURCE_DIR "/src/*/*.[chS]");
    add_files(SFB_SOURCE_DIR "/src/*/*/*.[chS]");
    for (size_t i = 0; i < node_count; i++) {
        arrows += nodes[i].count;
        if (nodes[i].state == NEW)
            look_for_circles(i);
    }
    cr_expect_gt(node_count, 50);
    cr_expect_gt(arrows, node_count); /* includes are found at all */
}

/* By these a compiler says what it compiles for. */
static const char *const architecture_macros[] = { "__x86_64",  "__amd64",   "__i386",
                                                   "__aarch64", "__AARCH64", "__ARM_" };

static bool may_know_architecture(const char *file)
{
    static const char *const files[] = { "include/sfb/context.h", "src/unwind/machine/native.h" };
    static const char *const own[] = { "src/unwind/machine/*_x86_64.[chS]",
                                       "src/unwind/machine/*_aarch64.[chS]" };

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
                                            "src/*/*/*.[chS]", "tools/*.[ch]" };
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
