/*
 * sfb diff: which functions and rows two .sframe sections have, by symbol: of two builds, of two
 * linkers, of an assembler and sfb synth.
 */
#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#include "cli/options.h"
#include "cli/tool.h"
#include "cli/tool_files.h"
#include "toolchain/check/words.h"
#include "toolchain/diff/table.h"
#include "util/counted.h"
#include "util/foreign.h"
#include "util/number.h"

enum diff_option { OPTION_MAX = OPTION_FIRST };

/* Default limit of differing functions that are printed. */
enum { LIMIT = 100 };

struct comparison {
    const struct diff_table *table[2];
    uint64_t limit, told;
    uint64_t same, differ, only[2];
};

/* @return whether there is room for one more line about a function */
static bool tell(struct comparison *c)
{
    c->told++;
    return c->limit == 0 || c->told <= c->limit;
}

static void print_only(struct comparison *c, unsigned side, const struct diff_function *f)
{
    c->only[side]++;
    if (!tell(c))
        return;
    foreign_print(stdout, f->name);
    printf(": only in %c: %s, %s\n", "AB"[side], counted(f->size, "bytes").text,
           counted(f->count, "rows").text);
}

/* ---- rows ---- */

/* Goes through the rows of two functions, at each offset where either has one. */
struct walk {
    const struct diff_row *next[2], *end[2];
    const struct diff_row *now[2]; /* that hold; NULL: none does yet */
};

static struct walk begin(const struct comparison *c, const struct diff_function *const *f)
{
    struct walk w;

    for (unsigned i = 0; i < 2; i++) {
        w.next[i] = c->table[i]->rows ? c->table[i]->rows + f[i]->first : NULL;
        w.end[i] = w.next[i] ? w.next[i] + f[i]->count : NULL;
        w.now[i] = NULL;
    }
    return w;
}

/* @return false: there is no more row */
static bool step(struct walk *w, uint32_t *offset)
{
    bool any = false;

    for (unsigned i = 0; i < 2; i++)
        if (w->next[i] != w->end[i] && (!any || w->next[i]->offset < *offset)) {
            *offset = w->next[i]->offset;
            any = true;
        }
    for (unsigned i = 0; any && i < 2; i++)
        while (w->next[i] != w->end[i] && w->next[i]->offset <= *offset)
            w->now[i] = w->next[i]++;
    return any;
}

static bool agree(const struct walk *w)
{
    if (!w->now[0] || !w->now[1])
        return w->now[0] == w->now[1];
    return memcmp(&w->now[0]->rule, &w->now[1]->rule, sizeof w->now[0]->rule) == 0;
}

static void print_row(const struct comparison *c, const char *name, uint32_t offset,
                      const struct walk *w)
{
    foreign_print(stdout, name);
    printf("+0x%" PRIx32 ":", offset);
    for (unsigned i = 0; i < 2; i++) {
        char words[RULE_WORDS_SIZE] = "no row";

        if (w->now[i])
            rule_words(words, &w->now[i]->rule, c->table[i]->abi);
        printf("%s %c: %s", i > 0 ? ";" : "", "AB"[i], words);
    }
}

/* @return at how many offsets they differ; the first one is printed if `print` says so */
static uint64_t compare_rows(const struct comparison *c, const struct diff_function *const *f,
                             bool print)
{
    struct walk w = begin(c, f);
    uint32_t offset = 0;
    uint64_t count = 0;

    while (step(&w, &offset))
        if (!agree(&w) && count++ == 0 && print)
            print_row(c, f[0]->name, offset, &w);
    return count;
}

static void compare(struct comparison *c, const struct diff_function *const *f)
{
    const bool sizes = f[0]->size != f[1]->size || f[0]->repeat != f[1]->repeat;
    const uint64_t rows = compare_rows(c, f, false);

    if (!sizes && rows == 0) {
        c->same++;
        return;
    }
    c->differ++;
    if (!tell(c))
        return;
    if (sizes) {
        foreign_print(stdout, f[0]->name);
        printf(": A: %s", counted(f[0]->size, "bytes").text);
        if (f[0]->repeat != f[1]->repeat)
            printf(" in entries of %" PRIu32, f[0]->repeat);
        printf("; B: %" PRIu32, f[1]->size);
        if (f[0]->repeat != f[1]->repeat)
            printf(" in entries of %" PRIu32, f[1]->repeat);
        printf("\n");
    }
    if (rows > 0) {
        compare_rows(c, f, true);
        if (rows > 1)
            printf(" (and at %" PRIu64 " more)", rows - 1);
        printf("\n");
    }
}

/* ---- functions ---- */

/* Both ascend by name; of several with one name the first goes with the first. */
static void compare_all(struct comparison *c)
{
    const struct diff_table *a = c->table[0], *b = c->table[1];
    size_t i = 0, k = 0;

    while (i < a->function_count && k < b->function_count) {
        const struct diff_function *f[2] = { &a->functions[i], &b->functions[k] };
        const int order = strcmp(f[0]->name, f[1]->name);

        if (order < 0)
            print_only(c, 0, f[0]);
        else if (order > 0)
            print_only(c, 1, f[1]);
        else
            compare(c, f);
        i += order <= 0;
        k += order >= 0;
    }
    for (; i < a->function_count; i++)
        print_only(c, 0, &a->functions[i]);
    for (; k < b->function_count; k++)
        print_only(c, 1, &b->functions[k]);
}

static void print_summary(const struct comparison *c)
{
    const struct diff_table *a = c->table[0], *b = c->table[1];

    if (c->limit > 0 && c->told > c->limit)
        printf("%s\n", counted(c->told - c->limit, "more functions").text);
    for (unsigned i = 0; i < 2; i++)
        if (c->table[i]->left_out > 0)
            printf("%c: left out: %s whose rows cannot be read\n", "AB"[i],
                   counted(c->table[i]->left_out, "functions").text);
    printf("functions: %zu in A, %zu in B: %" PRIu64 " the same, %" PRIu64 " differ, %" PRIu64
           " only in A, %" PRIu64 " only in B\n",
           a->function_count, b->function_count, c->same, c->differ, c->only[0], c->only[1]);
    printf(
        "rows that change something: %zu in A, %zu in B; .sframe: version %u, %s; version %u, %s\n",
        a->row_count, b->row_count, a->version, counted(a->size, "bytes").text, b->version,
        counted(b->size, "bytes").text);
}

/* ---- the command ---- */

static enum tool_exit read_table(struct diff_table *out, const char *path)
{
    enum tool_exit exit_status = TOOL_DONE;
    struct object_fault fault;
    struct input input;

    *out = (struct diff_table){ .version = 0 };
    if (!tool_read(&input, path))
        return TOOL_USAGE;
    if (!diff_table_read(out, &fault, &input))
        exit_status = tool_complain_of(TOOL_USAGE, input.name, &fault);
    else if (out->version == 0)
        exit_status =
            tool_complain(TOOL_USAGE, "%s: no .sframe that can be read; see 'sfb check'", path);
    input_free(&input);
    return exit_status;
}

static enum tool_exit diff_files(char **paths, uint64_t limit)
{
    struct diff_table a, b;
    struct comparison c = { .table = { &a, &b }, .limit = limit };
    const enum tool_exit first = read_table(&a, paths[0]), second = read_table(&b, paths[1]);
    enum tool_exit exit_status = tool_worse(first, second);

    if (exit_status == TOOL_DONE) {
        compare_all(&c);
        print_summary(&c);
        if (c.differ + c.only[0] + c.only[1] + a.left_out + b.left_out > 0)
            exit_status = TOOL_BAD_DATA;
    }
    diff_table_free(&a);
    diff_table_free(&b);
    return exit_status;
}

static enum tool_exit run_diff(const struct tool_command *command, int argc, char **argv)
{
    enum tool_exit exit_status;
    uint64_t limit = LIMIT;

    for (int o; (o = options_next(command, argc, argv, &exit_status)) != -1;) {
        if (o == '?')
            return exit_status;
        if (o == OPTION_MAX && !number_of_argument(optarg, &limit))
            return tool_misused(command, "'%s' is no number", optarg);
    }
    if (argc - optind != 2)
        return tool_misused(command, "two files are compared");
    return diff_files(argv + optind, limit);
}

static const struct tool_option options[] = {
    { OPTION_MAX, 0, "max", TAKES_ARGUMENT, "N",
      "functions that are printed, 100 if not given; the rest is counted. 0: all" },
    OPTIONS_END,
};

static const struct option_group groups[] = { { NULL, options, NULL }, OPTION_GROUPS_END };

const struct tool_command tool_diff = {
    .name = "diff",
    .summary = "compare two SFrame sections, by function and row",
    .usage = "sfb diff [OPTION...] A B",
    .about = "Compares the .sframe of two programs, libraries or object files, of any versions, "
             "function by function: by the symbol that begins there, else by section and offset. "
             "Rows are compared by what they mean; one that says what the one before it says is "
             "none. A line says what differs first:\n"
             "\n"
             "  NAME: only in A: BYTES, ROWS\n"
             "  NAME+OFFSET: A: CFA = sp+16, ...; B: CFA = sp+8, ...\n"
             "\n"
             "Recordings are compared by `sfb report --diff OLD NEW`.\n",
    .options = groups,
    .exits = "Exit status 0: they say the same. 1: they do not. 2: a file cannot be read, or has "
             "no .sframe.\n",
    .run = run_diff,
};
