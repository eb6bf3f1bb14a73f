/* The pages for people: their links lead somewhere, the index has them all, the first one is short. */
#include <criterion/criterion.h>
#include <ctype.h>
#include <glob.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "support/command.h"

enum { README_LINES_MAX = 100, PRODUCT_LINES_MAX = 60, TEXT_MAX = 1024 };

/* The pages of a product. */
static const char *const product_pages[] = { "src/README.md", "profiler/README.md",
                                             "toolchain/README.md" };

static glob_t pages;

static void find_pages(void)
{
    cr_assert_eq(glob(SFB_SOURCE_DIR "/*.md", 0, NULL, &pages), 0);
    cr_assert_eq(glob(SFB_SOURCE_DIR "/docs/*.md", GLOB_APPEND, NULL, &pages), 0);
    glob(SFB_SOURCE_DIR "/docs/*/*.md", GLOB_APPEND, NULL, &pages);
    cr_assert_eq(glob(SFB_SOURCE_DIR "/*/docs/*.md", GLOB_APPEND, NULL, &pages), 0);
    for (size_t i = 0; i < sizeof product_pages / sizeof *product_pages; i++) {
        char path[TEXT_MAX];

        snprintf(path, sizeof path, SFB_SOURCE_DIR "/%s", product_pages[i]);
        cr_assert_eq(glob(path, GLOB_APPEND, NULL, &pages), 0, "no %s", product_pages[i]);
    }
    cr_assert_geq(pages.gl_pathc, 10, "not all of them were found");
}

static void free_pages(void)
{
    globfree(&pages);
}

TestSuite(pages, .init = find_pages, .fini = free_pages);

/* What a heading is called in links: lower case, blanks as dashes, no other punctuation. */
static void anchor_of(char *out, const char *heading)
{
    for (; *heading && *heading != '\n'; heading++)
        if (isalnum((unsigned char)*heading) || *heading == '-' || *heading == '_')
            *out++ = (char)tolower((unsigned char)*heading);
        else if (*heading == ' ')
            *out++ = '-';
    *out = '\0';
}

static bool has_heading(const char *page, const char *anchor)
{
    char *text = text_read(page), heading[TEXT_MAX];
    bool found = false;

    for (char *rest = text, *line; !found && (line = strsep(&rest, "\n"));)
        if (*line == '#' && strlen(line) < sizeof heading) {
            line += strspn(line, "#");
            anchor_of(heading, line + strspn(line, " "));
            found = strcmp(heading, anchor) == 0;
        }
    free(text);
    return found;
}

/* @param target  a link of a page, as it stands there */
static void judge_link(const char *page, const char *target)
{
    int folder_size = (int)(strrchr(page, '/') + 1 - page);
    int file_size = (int)strcspn(target, "#");
    char file[TEXT_MAX];

    if (strstr(target, "://"))
        return;
    if (file_size == 0)
        snprintf(file, sizeof file, "%s", page);
    else
        snprintf(file, sizeof file, "%.*s%.*s", folder_size, page, file_size, target);
    cr_expect_eq(access(file, R_OK), 0, "%s: no file for (%s)", page, target);
    if (target[file_size] == '#' && access(file, R_OK) == 0)
        cr_expect(has_heading(file, target + file_size + 1), "%s: no heading for (%s)", page,
                  target);
}

Test(pages, have_links_that_lead_somewhere)
{
    size_t seen = 0;

    for (size_t i = 0; i < pages.gl_pathc; i++) {
        char *text = text_read(pages.gl_pathv[i]);

        for (char *at = text; (at = strstr(at, "](")); seen++) {
            char *end = strchr(at += 2, ')');

            cr_assert_not_null(end, "%s: a link has no end", pages.gl_pathv[i]);
            *end = '\0';
            judge_link(pages.gl_pathv[i], at);
            at = end + 1;
        }
        free(text);
    }
    cr_expect_geq(seen, 20, "not all of them were found");
}

/* Comments and pages name others without a link, from the root: docs/LIMITS.md. */
Test(pages, are_there_where_the_tree_names_them)
{
    char *names = command_output(
        "cd '%s' && git ls-files | grep -v /corpus/ | xargs sed -E "
        "'s/\\]\\([^)]*\\)//g' | grep -aoE "
        "'(^|[^/A-Za-z])((profiler|symbols|toolchain)/)?docs/(evidence/)?[A-Z]+[.]md' "
        "| sed 's,^[^a-z]*,,' | sort -u",
        SFB_SOURCE_DIR);
    size_t seen = 0;

    for (char *rest = names, *name; (name = strsep(&rest, "\n"));) {
        char file[TEXT_MAX];

        if (*name == '\0')
            continue;
        seen++;
        snprintf(file, sizeof file, SFB_SOURCE_DIR "/%s", name);
        cr_expect_eq(access(file, R_OK), 0, "%s is named, and is not there", name);
    }
    free(names);
    cr_expect_geq(seen, 3, "not all of them were found");
}

Test(pages, are_all_in_the_index)
{
    char *index = text_read(SFB_SOURCE_DIR "/docs/README.md");

    for (size_t i = 0; i < pages.gl_pathc; i++) {
        const char *name = pages.gl_pathv[i] + sizeof SFB_SOURCE_DIR;
        const bool beside = strncmp(name, "docs/", 5) == 0;
        char link[TEXT_MAX];

        if (strcmp(name, "docs/README.md") == 0)
            continue;
        snprintf(link, sizeof link, "](%s%s)", beside ? "" : "../", beside ? name + 5 : name);
        cr_expect_not_null(strstr(index, link), "docs/README.md does not have %s", name);
    }
    free(index);
}

static void judge_lines(const char *name, int max)
{
    char path[TEXT_MAX], *text;
    int lines = 0;

    snprintf(path, sizeof path, SFB_SOURCE_DIR "/%s", name);
    text = text_read(path);
    for (const char *at = text; (at = strchr(at, '\n')); at++)
        lines++;
    free(text);
    cr_expect_leq(lines, max, "%s has %d lines", name, lines);
}

Test(pages, begin_with_short_ones)
{
    judge_lines("README.md", README_LINES_MAX);
    for (size_t i = 0; i < sizeof product_pages / sizeof *product_pages; i++)
        judge_lines(product_pages[i], PRODUCT_LINES_MAX);
}

/* "FIGURES" alone in a line stands for what was to be written. */
static bool is_placeholder(const char *line)
{
    const size_t size = strspn(line, "ABCDEFGHIJKLMNOPQRSTUVWXYZ");

    return size >= 3 && line[size + strspn(line + size, ":. ")] == '\0';
}

Test(pages, have_no_placeholders)
{
    cr_expect(is_placeholder("FIGURES") && is_placeholder("TODO: "));
    for (size_t i = 0; i < pages.gl_pathc; i++) {
        char *text = text_read(pages.gl_pathv[i]);

        for (char *rest = text, *line; (line = strsep(&rest, "\n"));)
            cr_expect(!is_placeholder(line), "%s: %s", pages.gl_pathv[i], line);
        free(text);
    }
}

#define PAGES_AWK "awk -v root='" SFB_SOURCE_DIR "' -f '" SFB_SOURCE_DIR "/scripts/pages.awk' "

/* A block of code behind `<!-- from FILE -->` is that file. command.examples runs them. */
Test(pages, show_the_files_that_they_name)
{
    for (size_t i = 0; i < pages.gl_pathc; i++) {
        const char *page = pages.gl_pathv[i];
        struct command diff =
            command_run("new=$(" PAGES_AWK "'%s' && echo .) && "
                        "printf %%s \"${new%%.}\" | diff -U1 --label '%s' --label file '%s' -",
                        page, page, page);

        cr_expect_str_eq(diff.output, "", "%s\n./dev pages writes the file's lines into the page",
                         diff.output);
        free(diff.output);
    }
}

static bool is_shown(const char *example)
{
    char comment[TEXT_MAX];
    bool shown = false;

    snprintf(comment, sizeof comment, "<!-- from %s", example + sizeof SFB_SOURCE_DIR);
    for (size_t i = 0; !shown && i < pages.gl_pathc; i++) {
        char *text = text_read(pages.gl_pathv[i]);

        shown = strstr(text, comment) != NULL;
        free(text);
    }
    return shown;
}

Test(pages, show_each_example)
{
    glob_t examples;

    cr_assert_eq(glob(SFB_SOURCE_DIR "/examples/*.c", 0, NULL, &examples), 0);
    cr_expect_geq(examples.gl_pathc, 8);
    for (size_t i = 0; i < examples.gl_pathc; i++)
        cr_expect(is_shown(examples.gl_pathv[i]), "no page shows %s", examples.gl_pathv[i]);
    globfree(&examples);
}

/* What a page that differs from its files is refused with. */
Test(pages, are_seen_to_differ_from_their_files)
{
    static const struct {
        const char *page, *out;
    } cases[] = {
        { "<!-- from LICENSE -->\n    MIT\n\ntext\n", "    MIT License\n" },
        { "<!-- from no/file -->\n    MIT\n", "no file no/file\n" },
        { "<!-- from LICENSE, f() -->\n    MIT\n", "no function f() in LICENSE\n" },
        { "<!-- from LICENSE -->\ntext\n", "no block of code behind the comment\n" },
        { "<!-- from LICENSE -->\n```\nMIT\n", "no block of code, or no end of it\n" },
        { "<!-- from LICENSE part -->\n", "not <!-- from FILE -->" },
        { "```c\nint x;\n```\n", "a block of C without" },
    };

    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        struct command run = command_run("printf '%%s' '%s' | " PAGES_AWK, cases[i].page);

        cr_expect_not_null(strstr(run.output, cases[i].out), "%s%s", cases[i].page, run.output);
        cr_expect_eq(run.status != 0, i > 0, "%s", cases[i].page);
        free(run.output);
    }
}

/* docs/DECISIONS.md, "Words of the command": sizes are of powers of 1,024 everywhere. */
#define OTHER_SIZES "grep -nE '([0-9]|%[.a-z0-9]*[dfsu]) ?(kB|KB|MB|GB)([^A-Za-z0-9_]|$)'"

Test(pages, have_sizes_of_one_kind)
{
    char *found =
        command_output("cd '%s' && { %s -r --include='*.md' --include='*.[ch]' "
                       "--include='*.js' --include='*.sh' --include='*.txt' *.md docs examples "
                       "src util symbols profiler toolchain cli contrib include scripts "
                       "--exclude-dir=tests --exclude-dir=bench --exclude-dir=node_modules "
                       "|| [ $? = 1 ]; }",
                       SFB_SOURCE_DIR, OTHER_SIZES);
    char *known = command_output("printf '5 MB\\n6 MiB\\n%%%%d kB\\nBMB\\n' | %s", OTHER_SIZES);

    cr_expect_str_eq(found, "");
    cr_expect_str_eq(known, "1:5 MB\n3:%d kB\n");
    free(found);
    free(known);
}

/* docs/ARCHITECTURE.md says how large each folder is: scripts/folders --write. */
Test(pages, have_folders_of_the_size_that_they_say)
{
    char *counted = command_output("'%s/scripts/folders'", SFB_SOURCE_DIR);
    char *said = command_output(
        "sed -nE '/^## Folders/,/^## How/s/^[|] `([^`]+)` [|] ([0-9]+) [|].*/\\1 \\2/p' "
        "'%s/docs/ARCHITECTURE.md'",
        SFB_SOURCE_DIR);
    char *left = said;
    size_t seen = 0;

    for (char *rest = counted, *line; (line = strsep(&rest, "\n")) && *line; seen++) {
        char *other = strsep(&left, "\n");
        long now = atol(strchr(line, ' ')), then;

        cr_assert(other && strchr(other, ' '), "no row with a count for %s", line);
        then = atol(strchr(other, ' '));
        cr_expect_leq(labs(now - then), now / 10 + 20, "%s is %s in docs/ARCHITECTURE.md", line,
                      other);
    }
    cr_expect_gt(seen, 30);
    free(counted);
    free(said);
}
