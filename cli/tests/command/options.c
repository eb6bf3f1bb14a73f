/* The options of every command: help, errors, and what may have been meant. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "support/run.h"
#include "support/test.h"

#define ELF_FILE "'" SFB_SOURCE_DIR "/fixtures/elf/v1/amd64/free_pie'"

enum { FIELDS = 6, COMMANDS_MAX = 16, COLUMNS = 80 };

/* A line of `sfb help --table`. */
struct row {
    const char *command, *group, *letter, *name, *argument, *text;
};

static struct run table;
static struct row rows[256];
static size_t row_count;

/* "-o, --output FILE", "--top[=N]". */
static void label_of(const struct row *r, char *to, size_t size)
{
    const bool optional = r->argument[0] == '[';
    const int argument = (int)strlen(r->argument) - (optional ? 2 : 0);

    snprintf(to, size, "%s%s%s--%s%s%.*s%s", r->letter[0] ? "-" : "", r->letter,
             r->letter[0] ? ", " : "", r->name,
             optional       ? "[="
             : argument > 0 ? " "
                            : "",
             argument, r->argument + optional, optional ? "]" : "");
}

static void read_table(void)
{
    char *lines, *line;

    table = run_line("'%s' help --table", SFB_TOOL);
    cr_assert_eq(table.status, 0, "%s", table.err);
    for (lines = table.out; (line = strsep(&lines, "\n")) != NULL && *line;) {
        const char *fields[FIELDS] = { NULL };

        for (size_t i = 0; i < FIELDS; i++) {
            fields[i] = strsep(&line, "\t");
            cr_assert(fields[i] != NULL, "row %zu has %zu fields", row_count, i);
        }
        cr_assert(line == NULL);
        cr_assert(row_count < sizeof rows / sizeof *rows);
        rows[row_count++] =
            (struct row){ fields[0], fields[1], fields[2], fields[3], fields[4], fields[5] };
    }
    cr_assert(row_count > 50);
}

static void free_table(void)
{
    run_free(&table);
}

TestSuite(tool_options, .init = read_table, .fini = free_table);

/* Without line breaks and what stands before a line's text. */
static void join_lines(char *text)
{
    char *to = text;

    for (const char *at = text; *at; at++) {
        if (*at == '\n' || *at == ' ')
            while (at[1] == ' ' || at[1] == '\n')
                at++;
        *to++ = *at == '\n' ? ' ' : *at;
    }
    *to = '\0';
}

Test(tool_options, each_is_in_the_help_of_its_command)
{
    for (size_t i = 0; i < row_count; i++) {
        struct run run = run_line("'%s' %s --help", SFB_TOOL, rows[i].command);
        char want[512], label[96];

        label_of(&rows[i], label, sizeof label);
        snprintf(want, sizeof want, " %s %s", label, rows[i].text);
        join_lines(run.out);
        join_lines(want);
        cr_expect(strstr(run.out, want) != NULL, "sfb %s --help lacks '%s'", rows[i].command, want);
        run_free(&run);
    }
}

Test(tool_options, each_is_known_and_takes_what_its_help_says)
{
    for (size_t i = 0; i < row_count; i++) {
        const struct row *r = &rows[i];
        const bool none = r->argument[0] == '\0', optional = r->argument[0] == '[';
        struct run run =
            run_line("'%s' %s --%s%s </dev/null", SFB_TOOL, r->command, r->name, none ? "=x" : "");

        if (!optional) {
            cr_expect(strstr(run.err,
                             none ? "this option takes no argument" : "needs an argument") != NULL,
                      "%s --%s: %s", r->command, r->name, run.err);
            cr_expect(run.status == 2 || run.status == 125, "%s --%s: %d", r->command, r->name,
                      run.status);
        }
        cr_expect(strstr(run.err, "unknown option") == NULL, "%s --%s: %s", r->command, r->name,
                  run.err);
        run_free(&run);
        if (!r->letter[0] || none)
            continue;
        run = run_line("'%s' %s -%s", SFB_TOOL, r->command, r->letter);
        cr_expect(strstr(run.err, "needs an argument") != NULL, "%s -%s: %s", r->command, r->letter,
                  run.err);
        run_free(&run);
    }
}

Test(tool_options, none_is_there_twice)
{
    for (size_t i = 0; i < row_count; i++)
        for (size_t k = 0; k < i; k++)
            cr_expect(
                strcmp(rows[i].command, rows[k].command) != 0 ||
                    (strcmp(rows[i].name, rows[k].name) != 0 &&
                     (rows[i].letter[0] == '\0' || strcmp(rows[i].letter, rows[k].letter) != 0)),
                "%s --%s", rows[i].command, rows[i].name);
}

/* A letter is typed twice. */
Test(tool_options, a_name_that_is_nearly_right_is_answered_with_the_right_one)
{
    for (size_t i = 0; i < row_count; i++) {
        const struct row *r = &rows[i];
        char want[64];
        struct run run =
            run_line("'%s' %s --%c%c%s", SFB_TOOL, r->command, r->name[0], r->name[1], r->name + 1);

        snprintf(want, sizeof want, "'--%s'", r->name);
        cr_expect(run.status == (strcmp(r->command, "record") == 0 ? 125 : 2), "%s: %d", want,
                  run.status);
        cr_expect(strstr(run.err, "did you mean ") != NULL && strstr(run.err, want) != NULL,
                  "%s: %s", want, run.err);
        run_free(&run);
    }
}

Test(tool_options, errors_say_what_may_have_been_meant)
{
    static const struct {
        const char *typed, *says;
    } cases[] = {
        { "recrod ls", "unknown command 'recrod' (did you mean 'record'?); see 'sfb --help'\n" },
        { "reprot", "unknown command 'reprot' (did you mean 'report'?); see 'sfb --help'\n" },
        { "halp", "unknown command 'halp' (did you mean 'help'?); see 'sfb --help'\n" },
        { "frobnicate", "unknown command 'frobnicate'; see 'sfb --help'\n" },
        { "help chekc", "unknown command 'chekc' (did you mean 'check'?); see 'sfb --help'\n" },
        { "--verison",
          "unknown option '--verison' (did you mean '--version'?); see 'sfb --help'\n" },
        { "dump --reslove x", "dump: unknown option '--reslove' (did you mean '--resolve'?); see "
                              "'sfb dump --help'\n" },
        { "dump --frobnicate", "dump: unknown option '--frobnicate'; see 'sfb dump --help'\n" },
        { "check --no x", "check: '--no' may be --no-cfi, --no-code, --note; see 'sfb check "
                          "--help'\n" },
        { "check -stats x", "check: unknown option '-stats' (did you mean '--stats'?); see 'sfb "
                            "check --help'\n" },
        { "check -x x", "check: unknown option '-x'; see 'sfb check --help'\n" },
        { "check --reader foo x",
          "check: 'foo' is no reader: glibc-2.42, glibc-2.43, glibc-2.44, libsframe-2.40, "
          "libsframe-2.44, libsframe-2.47, linux-unwind-user; see" },
        { "stack --cbf --json 1", "stack: --cbf and --json: one of them; see" },
        { "stack --python --native 1", "stack: --native and --python: one of them; see" },
        { "report --native --python x", "report: --native and --python: one of them; see" },
        { "stack --cbf --names raw 1", "stack: --names changes nothing in --cbf: it has no names" },
        { "symbolize --obejct=x", "unknown option '--obejct=x' (did you mean '--object'?)" },
        { "addr2line -e x 10", "unknown command 'addr2line': 'sfb symbolize --object FILE ADDRESS' "
                               "names addresses\n" },
    };

    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        struct run run = run_line("'%s' %s", SFB_TOOL, cases[i].typed);

        cr_expect_eq(run.status, 2, "%s: %d", cases[i].typed, run.status);
        cr_expect(strstr(run.err, cases[i].says) != NULL, "%s: %s", cases[i].typed, run.err);
        cr_expect(run_count_lines(run.err) == 1, "%s: %s", cases[i].typed, run.err);
        cr_expect_eq(run.out_size, 0, "%s: %s", cases[i].typed, run.out);
        run_free(&run);
    }
}

/* An abbreviation is taken where one option begins so. */
Test(tool_options, may_be_abbreviated)
{
    struct run run = run_line("'%s' dump --he", SFB_TOOL);

    cr_expect_eq(run.status, 0, "%s", run.err);
    cr_expect(strstr(run.out, "usage: sfb dump ") == run.out, "%s", run.out);
    run_free(&run);
}

/* Commands in the order of `sfb --help`. @return how many there are */
static size_t list_commands(const char *help, char names[COMMANDS_MAX][16])
{
    size_t count = 0;

    for (const char *line = help; line && *line; line = strchr(line, '\n')) {
        line += *line == '\n';
        if (strncmp(line, "  -", 3) == 0)
            break;
        if (strncmp(line, "  ", 2) == 0 && strncmp(line, "  sfb ", 6) != 0 &&
            count < COMMANDS_MAX && sscanf(line, "  %15[a-z]", names[count]) == 1)
            count++;
    }
    return count;
}

/* What people come for stands first. */
Test(tool_options, help_lists_commands_in_the_order_of_their_use)
{
    static const char *const order[] = { "record",    "report",  "merge", "stack", "ctl",
                                         "symbolize", "collect", "check", "diff",  "synth",
                                         "dump",      "decode",  "encode" };
    struct run run = run_line("'%s' --help", SFB_TOOL);
    char names[COMMANDS_MAX][16];
    const size_t count = list_commands(run.out, names);
    size_t next = 0;

    cr_assert(count > 0, "%s", run.out);
    /* A build may lack the first five. */
    if (strcmp(names[0], "record") != 0)
        next = 5;
    cr_assert_eq(count + next, sizeof order / sizeof *order, "%s", run.out);
    for (size_t i = 0; i < count; i++)
        cr_expect_str_eq(names[i], order[next + i]);
    run_free(&run);
}

static void expect_same(const char *a, const char *b)
{
    struct run first = run_line("'%s' %s", SFB_TOOL, a), second = run_line("'%s' %s", SFB_TOOL, b);

    cr_expect_eq(first.status, 0, "%s: %s", a, first.err);
    cr_expect_eq(second.status, 0, "%s: %s", b, second.err);
    cr_expect(first.out_size > 4, "%s", a);
    run_expect_text(b, second.out, first.out);
    run_free(&first);
    run_free(&second);
}

Test(tool_options, help_has_each_form_that_people_try)
{
    char help[32], option[32], letter[32];

    expect_same("--help", "-h");
    expect_same("--help", "help");
    expect_same("--help", "help help");
    expect_same("--version", "-V");
    expect_same("--version", "version");
    for (size_t i = 0; i < row_count; i++) {
        if (strcmp(rows[i].name, "help") != 0)
            continue;
        snprintf(help, sizeof help, "help %s", rows[i].command);
        snprintf(option, sizeof option, "%s --help", rows[i].command);
        snprintf(letter, sizeof letter, "%s -h", rows[i].command);
        expect_same(option, help);
        expect_same(option, letter);
    }
}

static int columns_of(const char *line)
{
    int columns = 0;

    for (; *line && *line != '\n'; line++)
        columns += ((unsigned char)*line & 0xc0) != 0x80;
    return columns;
}

/* But for the forms of a command, of which each is a line. */
Test(tool_options, help_fits_a_terminal)
{
    for (size_t i = 0; i < row_count; i++) {
        struct run run;

        if (strcmp(rows[i].name, "help") != 0)
            continue;
        run = run_line("'%s' %s --help; '%s' --help", SFB_TOOL, rows[i].command, SFB_TOOL);
        for (const char *line = run.out; line && *line; line = strchr(line, '\n')) {
            line += *line == '\n';
            cr_expect(columns_of(line) <= COLUMNS || strncmp(line, "       sfb ", 11) == 0,
                      "%s: %.*s", rows[i].command, columns_of(line), line);
        }
        run_free(&run);
    }
}

/* What objdump and addr2line are called with. */
Test(tool_options, habits_of_binutils_work)
{
    expect_same("symbolize --object " ELF_FILE " 0x1010", "symbolize -Cfi -e " ELF_FILE " 0x1010");
    expect_same("symbolize --object " ELF_FILE " 0x1010",
                "symbolize --demangle=auto --functions --exe=" ELF_FILE " 0x1010");
    expect_same("dump " ELF_FILE, "dump --sframe=.sframe " ELF_FILE);
}
