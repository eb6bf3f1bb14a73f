/*
 * Each folder knows only folders above it: layers_table.h. Files do not know each other in a circle, either. And an
 * architecture is known where it is chosen, and in its own files. (declared.c: a header is implemented by the .c of its
 * name.)
 */
#include <criterion/criterion.h>
#include <fnmatch.h>
#include <glob.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "policy/layers_table.h"
#include "support/command.h"

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

/* --- The files of the tree ------------------------------------------------------------------------ */

enum { TREE_MAX = 2048 };

/* Each source of each product, by its path in the tree. No tests, no benchmarks. */
static const char *tree[TREE_MAX];
static size_t tree_count;

static void find_tree(void)
{
    char *list = command_output(
        "cd '%s' && find src util symbols remote profiler toolchain cli contrib -name '*.[chS]' "
        "-not -path '*/tests/*' -not -path '*/bench/*' -not -path '*/node_modules/*' "
        "2>/dev/null | LC_ALL=C sort",
        SFB_SOURCE_DIR);

    for (char *line; (line = strsep(&list, "\n"));)
        if (*line) {
            cr_assert_lt(tree_count, TREE_MAX);
            tree[tree_count++] = line;
        }
    cr_assert_gt(tree_count, 100);
}

TestSuite(layers, .init = find_tree);

/* How others include it. */
static const char *as_included(const char *path)
{
    return starts_with(path, "src/") ? path + 4 : path;
}

static char *text_in_tree(const char *path)
{
    char at[512];

    snprintf(at, sizeof at, SFB_SOURCE_DIR "/%s", path);
    return text_read(at);
}

/* A clone may have the library alone: then there is no other folder. */
static bool has_only_library(void)
{
    return access(SFB_SOURCE_DIR "/util", F_OK) != 0;
}

static void judge_file(const struct layer *layer, const char *file)
{
    char *text = text_in_tree(file);

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

Test(layers, know_only_what_stands_above_them)
{
    size_t seen[LAYERS] = { 0 };

    for (size_t f = 0; f < tree_count; f++) {
        bool found = false;

        for (size_t i = 0; i < LAYERS; i++)
            if (is_in(layers[i].folder, as_included(tree[f]))) {
                found = true;
                seen[i]++;
                judge_file(&layers[i], tree[f]);
            }
        cr_expect(found || strchr(as_included(tree[f]), '/') == NULL,
                  "%s is in a folder without a place in the order", tree[f]);
    }
    for (size_t i = 0; i < LAYERS && !has_only_library(); i++)
        cr_expect(seen[i] > 0 || is_to_come(layers[i].folder), "no files in %s", layers[i].folder);
}

/* The page has the same folders, with what lives there. */
Test(layers, are_the_folders_of_the_page)
{
    static const char page[] = SFB_SOURCE_DIR "/docs/ARCHITECTURE.md";
    char *text;

    if (access(page, R_OK) != 0)
        cr_skip_test("a copy of the library alone has no pages");
    text = text_read(page);
    for (size_t i = 0; i < LAYERS; i++) {
        char row[128], own[128];

        snprintf(row, sizeof row, "\n| `src/%s` | ", layers[i].folder);
        snprintf(own, sizeof own, "\n| `%s` | ", layers[i].folder);
        cr_expect(strstr(text, row) || strstr(text, own) || starts_with(layers[i].folder, "cli/"),
                  "docs/ARCHITECTURE.md has no row for %s", layers[i].folder);
    }
    free(text);
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

/* --- Circles of files: a header and the .c of its name count as one ------------------------------- */

enum { FILES_MAX = 1024, ARROWS_MAX = 32, NAME_MAX_SIZE = 128 };

struct node {
    char name[NAME_MAX_SIZE]; /* as it is included, without what its names end with */
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
    size_t from = node_of(as_included(file));
    char *text = text_in_tree(file);

    for (char *rest = text, *line; (line = strsep(&rest, "\n"));) {
        bool system = false;
        const char *name = included(line, &system);
        char path[512];
        size_t to;

        if (!name || system)
            continue;
        snprintf(path, sizeof path, SFB_SOURCE_DIR "/src/%s", name);
        if (access(path, F_OK) != 0)
            snprintf(path, sizeof path, SFB_SOURCE_DIR "/%s", name);
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

Test(layers, have_no_circle_of_files)
{
    size_t arrows = 0;

    for (size_t i = 0; i < tree_count; i++)
        add_file(tree[i]);
    for (size_t i = 0; i < node_count; i++) {
        arrows += nodes[i].count;
        if (nodes[i].state == NEW)
            look_for_circles(i);
    }
    cr_expect_gt(node_count, 50);
    cr_expect_gt(arrows, node_count); /* includes are found at all */
}

/* Of each product: who reads "ring.c" in a backtrace knows which. */
Test(layers, have_no_file_name_twice_in_a_product)
{
    static const char *const products[] = { "src/", "profiler/", "toolchain/" };

    for (size_t p = 0; p < sizeof products / sizeof *products; p++)
        for (size_t i = 0; i < tree_count; i++)
            for (size_t j = 0; j < i; j++) {
                const char *a = strrchr(tree[i], '/'), *b = strrchr(tree[j], '/');
                size_t size = strlen(a);

                cr_expect(!starts_with(tree[i], products[p]) ||
                              !starts_with(tree[j], products[p]) ||
                              strcmp(a + size - 2, ".c") != 0 || strcmp(a, b) != 0,
                          "%s and %s", tree[j], tree[i]);
            }
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

/* @return how many of the macros a file asks for */
static size_t names_architecture(const char *path)
{
    char *text = text_in_tree(path);
    size_t seen = 0;

    for (size_t k = 0; k < sizeof architecture_macros / sizeof *architecture_macros; k++) {
        bool found = strstr(text, architecture_macros[k]) != NULL;

        seen += found;
        cr_expect(!found || may_know_architecture(path), "%s asks for %s", path,
                  architecture_macros[k]);
    }
    free(text);
    return seen;
}

Test(layers, choose_the_architecture_in_one_place)
{
    char *headers = command_output("cd '%s' && ls include/*.h include/*/*.h", SFB_SOURCE_DIR);
    size_t seen = 0;

    for (char *line; (line = strsep(&headers, "\n"));)
        if (*line)
            seen += names_architecture(line);
    for (size_t i = 0; i < tree_count; i++)
        seen += names_architecture(tree[i]);
    cr_expect_gt(seen, 0); /* the place where it is chosen */
}
