/* The pages for people: their links lead somewhere, the index has them all, the first one is short. */
#include <criterion/criterion.h>
#include <ctype.h>
#include <glob.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "support/command.h"

enum { README_LINES_MAX = 100, TEXT_MAX = 1024 };

static glob_t pages;

static void find_pages(void)
{
    cr_assert_eq(glob(SFB_SOURCE_DIR "/*.md", 0, NULL, &pages), 0);
    cr_assert_eq(glob(SFB_SOURCE_DIR "/docs/*.md", GLOB_APPEND, NULL, &pages), 0);
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

/* Comments and pages name others without a link: docs/LIMITS.md. */
Test(pages, are_there_where_the_tree_names_them)
{
    char *names = command_output("cd '%s' && grep -rhoE 'docs/[A-Z]+[.]md' --exclude-dir='build*' "
                                 "--exclude-dir=corpus * | sort -u",
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
        const char *name = strrchr(pages.gl_pathv[i], '/') + 1;
        char link[TEXT_MAX];

        if (strcmp(name, "README.md") == 0)
            continue;
        snprintf(link, sizeof link, "%s](", name);
        cr_expect_not_null(strstr(index, link), "docs/README.md does not have %s", name);
    }
    free(index);
}

Test(pages, begin_with_a_short_one)
{
    char *text = text_read(SFB_SOURCE_DIR "/README.md");
    int lines = 0;

    for (const char *at = text; (at = strchr(at, '\n')); at++)
        lines++;
    free(text);
    cr_expect_leq(lines, README_LINES_MAX, "README.md has %d lines", lines);
}

#define PAGES_AWK "awk -v root='" SFB_SOURCE_DIR "' -f '" SFB_SOURCE_DIR "/scripts/pages.awk' "

/* A block of code behind `<!-- from FILE -->` is that file. live.tool_examples runs them. */
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

/* What the test above says of a page that is wrong. */
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
    char *found = command_output("cd '%s' && { %s -r --include='*.md' --include='*.[ch]' "
                                 "--include='*.js' --include='*.sh' --include='*.txt' *.md docs "
                                 "src tools include page/src scripts || [ $? = 1 ]; }",
                                 SFB_SOURCE_DIR, OTHER_SIZES);
    char *known = command_output("printf '5 MB\\n6 MiB\\n%%%%d kB\\nBMB\\n' | %s", OTHER_SIZES);

    cr_expect_str_eq(found, "");
    cr_expect_str_eq(known, "1:5 MB\n3:%d kB\n");
    free(found);
    free(known);
}
