#include "cli/report/lws_report.h"

#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "cli/options.h"
#include "cli/places.h"
#include "cli/report/lws_program.h"
#include "cli/report/report_options.h"
#include "cli/tool_files.h"
#include "cli/tool_reporter.h"
#include "contrib/lws/lws_lines.h"
#include "contrib/lws/lws_sums.h"
#include "symbols/demangle.h"
#include "symbols/symbols.h"
#include "util/foreign.h"
#include "util/number.h"

struct request {
    const struct tool_command *command;
    const char *program, *log;
    uint64_t base;
    bool base_given;
    enum lws_dialect dialect;
    enum object_name_style names;
    struct places places;
};

/* What is printed, and of what. */
struct table {
    const struct request *request;
    struct symbols *symbols;
    int columns[2]; /* widths */
    bool first;     /* line of a stack */
    uint64_t address;
    size_t named, frames;
};

/* --- The table ---------------------------------------------------------------------------------- */

static void print_name(void *user, const struct symbols_function *f)
{
    struct table *t = user;
    char *name = f->name ? object_demangle(f->name, t->request->names) : NULL;

    if (!t->first)
        printf("%*s", t->columns[0] + 2 + t->columns[1] + 2, "");
    t->first = false;
    if (name)
        foreign_print(stdout, name);
    else
        printf("0x%" PRIx64, t->address);
    if (f->file && f->line > 0) {
        printf(" (");
        foreign_print(stdout, f->file);
        printf(":%d)", f->line);
    }
    puts(f->inlined ? " inlined" : "");
    t->named += !f->inlined && name;
    free(name);
}

/* It is a return address: the call is before it. */
static void print_frame(struct table *t, uint64_t address)
{
    t->address = address;
    t->frames++;
    symbols_find(t->symbols, address > 0 ? address - 1 : 0, print_name, t);
}

static void print_sum(struct table *t, const struct lws_sum *sum)
{
    printf("%*" PRIu64 "  %*" PRIu64 "  ", t->columns[0], sum->bytes, t->columns[1], sum->blocks);
    t->first = true;
    for (unsigned i = 0; i < sum->depth; i++)
        print_frame(t, sum->frames[i]);
    if (sum->depth == 0)
        puts("no stack");
}

static int width_of(uint64_t number, const char *head)
{
    const int digits = snprintf(NULL, 0, "%" PRIu64, number), letters = (int)strlen(head);

    return digits > letters ? digits : letters;
}

static void print_table(struct table *t, const struct lws_sums *sums)
{
    t->columns[0] = width_of(sums->bytes, "BYTES");
    t->columns[1] = width_of(sums->blocks, "BLOCKS");
    printf("%*s  %*s  STACK\n", t->columns[0], "BYTES", t->columns[1], "BLOCKS");
    for (size_t i = 0; i < sums->count; i++)
        print_sum(t, sums->all[i]);
    printf("%*" PRIu64 "  %*" PRIu64 "  in all\n", t->columns[0], sums->bytes, t->columns[1],
           sums->blocks);
}

/* --- The command -------------------------------------------------------------------------------- */

static bool add(void *user, const struct lws_note *note)
{
    if (lws_sums_add(user, note))
        return true;
    tool_complain(TOOL_USAGE, "%s", strerror(ENOMEM));
    return false;
}

static enum tool_exit report(const struct request *r, struct symbols *symbols)
{
    struct table table = { .request = r, .symbols = symbols };
    struct lws_sums sums = { .tree = NULL };
    enum tool_exit exit_status;
    struct input input;

    if (!tool_read(&input, r->log))
        return TOOL_USAGE;
    exit_status = lws_lines_each(&input, r->dialect, add, &sums, &tool_complaints) ? TOOL_DONE
                                                                                   : TOOL_BAD_DATA;
    lws_sums_sort(&sums);
    if (sums.count > 0)
        print_table(&table, &sums);
    if (table.frames > 0 && table.named == 0)
        exit_status = tool_complain(
            TOOL_BAD_DATA,
            "%s: none of the addresses is in it: was it loaded elsewhere? --base ADDRESS",
            r->program);
    lws_sums_free(&sums);
    input_free(&input);
    return exit_status;
}

static enum tool_exit execute(const struct request *r)
{
    struct symbols *symbols = symbols_open(&r->places.object, &tool_complaints);
    struct lws_program program = { .module = { .path = NULL } };
    enum tool_exit exit_status = TOOL_DONE;

    if (!symbols)
        exit_status = tool_complain(TOOL_USAGE, "%s", strerror(ENOMEM));
    else if (lws_program_use(&program, symbols, r->program, r->base_given ? &r->base : NULL,
                             &exit_status))
        exit_status = report(r, symbols);
    symbols_close(symbols);
    lws_program_free(&program);
    return exit_status;
}

/* @return false after a complaint */
static bool take_option(struct request *r, int option, enum tool_exit *exit_status)
{
    bool good = true;

    switch (option) {
    case OPTION_LWS: r->program = optarg; return true;
    case OPTION_BASE:
        good = r->base_given = number_of_argument(optarg, &r->base);
        if (!good)
            *exit_status = tool_misused(r->command, "'%s' is no address", optarg);
        return good;
    case OPTION_DIALECT:
        good = lws_dialect_parse(optarg, &r->dialect);
        if (!good)
            *exit_status =
                tool_misused(r->command, "'%s' is no dialect: library or readme", optarg);
        return good;
    case OPTION_NAMES:
        good = object_name_style_parse(optarg, &r->names);
        if (!good)
            *exit_status =
                tool_misused(r->command, "'%s' is no style of names: full, short or raw", optarg);
        return good;
    case OPTION_SYMBOL_PATH:
    case OPTION_DEBUGINFOD:
    case OPTION_MAX_UNPACKED: return places_take(&r->places, r->command, option, exit_status);
    default:
        *exit_status = tool_misused(r->command, "--%s does not go with --lws",
                                    tool_option_name(r->command, option));
        return false;
    }
}

bool lws_report_is_asked(int argc, char **argv)
{
    for (int i = 1; i < argc && strcmp(argv[i], "--") != 0; i++)
        if (strcmp(argv[i], "--lw") == 0 || strcmp(argv[i], "--lws") == 0 ||
            strncmp(argv[i], "--lw=", 5) == 0 || strncmp(argv[i], "--lws=", 6) == 0)
            return true;
    return false;
}

enum tool_exit lws_report_run(const struct tool_command *command, int argc, char **argv)
{
    enum tool_exit exit_status = TOOL_DONE;
    struct request r = { .command = command, .log = "-" };
    bool good = true;

    for (int o; good && (o = options_next(command, argc, argv, &exit_status)) != -1;)
        good = o != '?' && take_option(&r, o, &exit_status);
    if (good && argc - optind > 1)
        exit_status = tool_misused(command, "more than one log given");
    else if (good) {
        if (optind < argc)
            r.log = argv[optind];
        exit_status = execute(&r);
    }
    places_close(&r.places);
    return exit_status;
}
