#include "cli/options.h"

#include <stdbool.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "cli/help.h"
#include "util/nearest.h"

enum { OPTIONS_MAX = 96, LONG_FIRST = 256 };

/* A command's table as getopt_long() wants it. */
struct parser {
    const struct tool_command *command;
    const struct tool_option *rows[OPTIONS_MAX];
    size_t count;
    struct option names[OPTIONS_MAX + 1]; /* of each row; `val` is LONG_FIRST and its index */
    char letters[2 * OPTIONS_MAX + 3];
};

static void add_letter(struct parser *p, char letter, bool takes)
{
    const size_t size = strlen(p->letters);

    if (letter != 0 && !strchr(p->letters + 1, letter))
        snprintf(p->letters + size, sizeof p->letters - size, "%c%s", letter, takes ? ":" : "");
}

static void add(struct parser *p, const struct tool_option *row)
{
    static const int kinds[] = { [TAKES_NOTHING] = no_argument,
                                 [TAKES_ARGUMENT] = required_argument,
                                 [TAKES_OPTIONAL] = optional_argument,
                                 [TAKES_NUMBER] = optional_argument };

    if (p->count == OPTIONS_MAX)
        return;
    p->names[p->count] =
        (struct option){ row->name, kinds[row->takes], NULL, LONG_FIRST + (int)p->count };
    p->rows[p->count++] = row;
    add_letter(p, row->letter, row->takes == TAKES_ARGUMENT);
}

/* Of habits getopt() knows the letters: their long names would make abbreviations of ours ambiguous. */
static void make(struct parser *p, const struct tool_command *command)
{
    const struct option_habits *habits = command->habits;

    memset(p, 0, sizeof *p);
    p->command = command;
    snprintf(p->letters, sizeof p->letters, "%s:", command->runs_program ? "+" : "");
    for (const struct option_group *g = command->options; g->options; g++)
        for (const struct tool_option *row = g->options; row->name; row++)
            add(p, row);
    add(p, &help_option);
    for (const struct option_habit *h = habits ? habits->all : NULL; h && (h->letter || h->name);
         h++)
        add_letter(p, h->letter, h->value != HABIT_REFUSED && h->takes == TAKES_ARGUMENT);
}

static const struct tool_option *row_of_letter(const struct parser *p, int letter)
{
    for (size_t i = 0; i < p->count; i++)
        if (p->rows[i]->letter != 0 && p->rows[i]->letter == letter)
            return p->rows[i];
    return NULL;
}

/* --- A number behind an option ----------------------------------------------------------------- */

/* "5", "64k". */
static bool is_number(const char *text)
{
    const size_t digits = strspn(text, "0123456789");

    return digits > 0 && (text[digits] == '\0' ||
                          (strchr("kKMG", text[digits]) != NULL && text[digits + 1] == '\0'));
}

/* `--top 5 x.sfbr`: a number behind it is meant, unless it is the last word and a file is called so. */
static void take_number(const struct tool_option *row, int argc, char **argv)
{
    const char *typed = argv[optind - 1];
    const bool bare = optind < argc && strncmp(typed, "--", 2) == 0 && !strchr(typed, '=');
    const bool word_follows = bare && optind + 1 < argc && argv[optind + 1][0] != '-';

    if (row->takes == TAKES_NUMBER && !optarg && bare && is_number(argv[optind]) &&
        (word_follows || access(argv[optind], F_OK) != 0))
        optarg = argv[optind++];
}

/* --- Habits ------------------------------------------------------------------------------------ */

static const struct option_habit *habit_of(const struct parser *p, int letter, const char *name,
                                           size_t size)
{
    const struct option_habits *habits = p->command->habits;

    for (const struct option_habit *h = habits ? habits->all : NULL; h && (h->letter || h->name);
         h++)
        if (name ? h->name && strlen(h->name) == size && strncmp(h->name, name, size) == 0
                 : h->letter != 0 && h->letter == letter)
            return h;
    return NULL;
}

/*
 * Takes one of another program.
 *
 * @param typed  as it was typed, for the line that refuses it
 * @return as options_next(); 0: it is needless
 */
static int take_habit(const struct parser *p, const struct option_habit *h, const char *typed,
                      enum tool_exit *exit_status)
{
    if (h->value == HABIT_NEEDLESS)
        return 0;
    if (h->value != HABIT_REFUSED)
        return h->value;
    *exit_status = tool_complain(TOOL_USAGE, "%s: '%s': %s", p->command->name, typed, h->text);
    return '?';
}

/* The same for a long one, which getopt_long() does not know: "--freq=99", "--freq 99". */
static int take_long_habit(const struct parser *p, const struct option_habit *h, int argc,
                           char **argv, enum tool_exit *exit_status)
{
    const char *typed = argv[optind - 1];
    char *value = strchr(argv[optind - 1], '=');

    optarg = value ? value + 1 : NULL;
    if (h->value != HABIT_REFUSED && h->takes == TAKES_ARGUMENT && !optarg) {
        if (optind == argc) {
            *exit_status = tool_misused(p->command, "'%s' needs an argument", typed);
            return '?';
        }
        optarg = argv[optind++];
    }
    return take_habit(p, h, typed, exit_status);
}

/* --- What is wrong ------------------------------------------------------------------------------ */

/* Writes "--max-size, --max-frames": the options with this beginning. @return their number */
static unsigned list_beginning(const struct parser *p, const char *name, size_t size, char *to,
                               size_t room)
{
    unsigned count = 0;

    to[0] = '\0';
    for (size_t i = 0; i < p->count; i++)
        if (strncmp(p->rows[i]->name, name, size) == 0) {
            const size_t used = strlen(to);

            snprintf(to + used, room - used, "%s--%s", count++ > 0 ? ", " : "", p->rows[i]->name);
        }
    return count;
}

/* Complains of an unknown option, with suggestions. */
static enum tool_exit unknown(const struct parser *p, const char *typed, const char *name)
{
    struct nearest nearest;
    char guesses[160];

    nearest_begin(&nearest, name, strcspn(name, "="));
    for (size_t i = 0; i < p->count; i++)
        nearest_add(&nearest, p->rows[i]->name, p->rows[i]->name);
    nearest_end(&nearest);
    return tool_misused(p->command, "unknown option '%s'%s", typed,
                        tool_guesses(guesses, sizeof guesses, &nearest, "--"));
}

static int unknown_long(const struct parser *p, int argc, char **argv, enum tool_exit *exit_status)
{
    const char *typed = argv[optind - 1], *name = typed + strspn(typed, "-");
    const size_t size = strcspn(name, "=");
    const struct option_habit *h = habit_of(p, 0, name, size);
    char list[160];

    if (h)
        return take_long_habit(p, h, argc, argv, exit_status);
    if (size > 0 && list_beginning(p, name, size, list, sizeof list) > 1)
        *exit_status = tool_misused(p->command, "'%s' may be %s", typed, list);
    else
        *exit_status = unknown(p, typed, name);
    return '?';
}

/* `-top`: a long name behind one dash. @return the word; NULL: a letter alone was typed */
static const char *word_with(int argc, char **argv)
{
    for (int i = optind - 1; i <= optind && i < argc; i++)
        if (i > 0 && argv[i][0] == '-' && argv[i][1] == optopt && argv[i][2] != '\0')
            return argv[i];
    return NULL;
}

static enum tool_exit unknown_letter(const struct parser *p, int argc, char **argv)
{
    const char *word = word_with(argc, argv);

    if (word)
        return unknown(p, word, word + 1);
    return tool_misused(p->command, "unknown option '-%c'", optopt);
}

/* --- All of it ---------------------------------------------------------------------------------- */

/* @return as options_next(); 0: there is more */
static int take_letter(const struct parser *p, int letter, enum tool_exit *exit_status)
{
    const struct tool_option *row = row_of_letter(p, letter);
    const char typed[] = { '-', (char)letter, '\0' };

    return row ? row->value : take_habit(p, habit_of(p, letter, NULL, 0), typed, exit_status);
}

/* @return as options_next(); 0: there is more */
static int take(const struct parser *p, int got, int argc, char **argv, enum tool_exit *exit_status)
{
    if (got >= LONG_FIRST) {
        take_number(p->rows[got - LONG_FIRST], argc, argv);
        return p->rows[got - LONG_FIRST]->value;
    }
    if (got == ':')
        *exit_status = tool_misused(p->command, "'%s' needs an argument", argv[optind - 1]);
    else if (got == '?' && optopt >= LONG_FIRST)
        *exit_status =
            tool_misused(p->command, "'%s': this option takes no argument", argv[optind - 1]);
    else if (got == '?' && optopt != 0)
        *exit_status = unknown_letter(p, argc, argv);
    else if (got == '?')
        return unknown_long(p, argc, argv, exit_status);
    else
        return take_letter(p, got, exit_status);
    return '?';
}

int options_next(const struct tool_command *command, int argc, char **argv,
                 enum tool_exit *exit_status)
{
    struct parser p;
    int value = 0;

    opterr = 0; /* getopt's own messages have no hint at --help */
    make(&p, command);
    while (value == 0) {
        const int got = getopt_long(argc, argv, p.letters, p.names, NULL);

        value = got == -1 ? -1 : take(&p, got, argc, argv, exit_status);
    }
    if (value == OPTION_HELP) {
        help_print(command);
        *exit_status = TOOL_DONE;
        return '?';
    }
    return value;
}
