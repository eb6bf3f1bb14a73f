#include "cli/help.h"

#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

const struct tool_option help_option = {
    OPTION_HELP, 'h', "help", TAKES_NOTHING, NULL, "this text"
};

enum { WIDTH = 80, TEXT_COLUMN = 19, LABEL_MOST = 42 };

/* --- Lines -------------------------------------------------------------------------------------- */

/* Counts characters of UTF-8: continuation bytes have no column. */
static int columns_of(const char *text, size_t size)
{
    int columns = 0;

    for (size_t i = 0; i < size; i++)
        columns += ((unsigned char)text[i] & 0xc0) != 0x80;
    return columns;
}

/* Prints a paragraph in lines that begin at a column. @param column  where the first one goes on */
static void print_paragraph(const char *text, size_t size, int column, int indent)
{
    const char *const end = text + size;
    bool first = true;

    while (text < end) {
        const size_t word = strcspn(text, " \n");
        const size_t taken = word < (size_t)(end - text) ? word : (size_t)(end - text);
        const int wide = columns_of(text, taken);

        if (!first && column + 1 + wide > WIDTH) {
            printf("\n%*s", indent, "");
            column = indent;
            first = true;
        }
        printf("%s%.*s", first ? "" : " ", (int)taken, text);
        column += wide + !first;
        first = false;
        text += taken + (text + taken < end);
    }
    putchar('\n');
}

/* A line of a list goes on behind its mark. */
static int hanging(const char *line)
{
    return strncmp(line, "- ", 2) == 0 ? 2 : 0;
}

void help_print_text(const char *text)
{
    while (*text) {
        const size_t size = strcspn(text, "\n");

        if (*text == ' ')
            printf("%.*s\n", (int)size, text);
        else
            print_paragraph(text, size, 0, hanging(text));
        text += size + (text[size] == '\n');
    }
}

/* --- Options ------------------------------------------------------------------------------------ */

static void write_label(char *to, size_t size, const struct tool_option *o)
{
    const char letter[] = { '-', o->letter, ',', ' ', '\0' };
    const char *before = o->letter ? letter : "";

    if (o->takes == TAKES_NOTHING)
        snprintf(to, size, "%s--%s", before, o->name);
    else if (o->takes == TAKES_ARGUMENT)
        snprintf(to, size, "%s--%s %s", before, o->name, o->argument);
    else
        snprintf(to, size, "%s--%s[=%s]", before, o->name, o->argument);
}

static void print_option(const struct tool_option *o)
{
    char label[96];
    int column;

    write_label(label, sizeof label, o);
    column = printf("  %s", label);
    if (column > LABEL_MOST)
        column = printf("\n") - 1;
    column += printf("%*s", column + 2 > TEXT_COLUMN ? 2 : TEXT_COLUMN - column, "");
    print_paragraph(o->text, strlen(o->text), column, TEXT_COLUMN);
}

static void print_group(const struct option_group *group)
{
    if (group->title)
        printf("%s:\n", group->title);
    for (const struct tool_option *o = group->options; o->name; o++)
        print_option(o);
    if (group->text)
        help_print_text(group->text);
}

/* --help ends the list of the only group, or has a paragraph. */
static void print_options(const struct option_group *groups)
{
    size_t titles = 0;

    for (const struct option_group *g = groups; g->options; g++) {
        if (g > groups && g->title)
            putchar('\n');
        print_group(g);
        titles += g->title != NULL;
    }
    if (titles > 0)
        putchar('\n');
    print_option(&help_option);
}

/* --- Options of other programs ------------------------------------------------------------------ */

/* Lists the habits that work, or the needless ones. @param before  printed before the first */
static void list_habits(FILE *to, const struct tool_command *command, bool needless,
                        const char *before)
{
    const struct option_habits *habits = command->habits;
    unsigned count = 0;

    for (const struct option_habit *h = habits->all; h->letter || h->name; h++) {
        if (h->value == HABIT_REFUSED || (h->value == HABIT_NEEDLESS) != needless)
            continue;
        if (count++ == 0)
            fprintf(to, "%s%s: ", before, needless ? "" : habits->of);
        else
            fputs("; ", to);
        if (h->letter)
            fprintf(to, "-%c%s", h->letter, h->name ? ", " : "");
        if (h->name)
            fprintf(to, "--%s", h->name);
        if (h->argument)
            fprintf(to, " %s", h->argument);
        if (!needless)
            fprintf(to, " is --%s", tool_option_name(command, h->value));
    }
    if (count > 0 && needless)
        fprintf(to, " (%s)", habits->needless);
    fputs(count > 0 ? ".\n" : "", to);
}

static void print_habits(const struct tool_command *command)
{
    char *text = NULL;
    size_t size = 0;
    FILE *to = open_memstream(&text, &size);

    if (!to)
        return;
    list_habits(to, command, false, "As in ");
    list_habits(to, command, true, "Not needed");
    fclose(to);
    putchar('\n');
    help_print_text(text);
    free(text);
}

/* --- All of it ---------------------------------------------------------------------------------- */

static void print_usage(const char *usage)
{
    const char *before = "usage: ";

    while (*usage) {
        const size_t size = strcspn(usage, "\n");

        printf("%s%.*s\n", before, (int)size, usage);
        before = "       ";
        usage += size + (usage[size] == '\n');
    }
}

static void print_more(const char *text)
{
    if (!text)
        return;
    putchar('\n');
    help_print_text(text);
}

void help_print(const struct tool_command *command)
{
    print_usage(command->usage);
    print_more(command->about);
    putchar('\n');
    print_options(command->options);
    if (command->habits)
        print_habits(command);
    print_more(command->more);
    print_more(command->exits);
}

static void print_row(const char *command, const char *title, const struct tool_option *o)
{
    const bool optional = o->takes == TAKES_OPTIONAL || o->takes == TAKES_NUMBER;
    const char letter[] = { o->letter, '\0' };

    printf("%s\t%s\t%s\t%s\t%s%s%s\t%s\n", command, title, letter, o->name, optional ? "[" : "",
           o->argument ? o->argument : "", optional ? "]" : "", o->text);
}

void help_print_table(const struct tool_command *command)
{
    const char *title = "";

    for (const struct option_group *g = command->options; g->options; g++) {
        title = g->title ? g->title : title;
        for (const struct tool_option *o = g->options; o->name; o++)
            print_row(command->name, title, o);
    }
    print_row(command->name, "", &help_option);
}
