/*
 * The options of a command, as data: help, parsing and its errors are made of them, and whatever else has to list them
 * (`sfb help --table`).
 *
 * The text of an option, as every text of help, is one line for each paragraph: help breaks it. A line that begins with
 * a space is printed as it is.
 */
#ifndef CLI_OPTION_TABLE_H
#define CLI_OPTION_TABLE_H

#include <stddef.h>

enum option_takes {
    TAKES_NOTHING,
    TAKES_ARGUMENT, /* --rate HZ */
    TAKES_OPTIONAL, /* --color[=WHEN] */
    TAKES_NUMBER    /* --top[=N], and `--top 5` is meant, too */
};

/* `value` of --help, and the first one of a command's own. */
enum { OPTION_HELP = 256, OPTION_FIRST };

struct tool_option {
    int value;        /* what options_next() gives */
    char letter;      /* 0: no short form */
    const char *name; /* the long form, without its dashes */
    enum option_takes takes;
    const char *argument; /* its name in help; NULL: takes none */
    const char *text;     /* what it does */
};

/* The last one of an array. */
#define OPTIONS_END                                                                                \
    {                                                                                              \
        0, 0, NULL, TAKES_NOTHING, NULL, NULL                                                      \
    }

struct option_group {
    const char *title;                 /* NULL: it goes on with the group before it */
    const struct tool_option *options; /* up to OPTIONS_END; NULL: the last group */
    const char *text;                  /* what stands behind them; NULL: nothing */
};

#define OPTION_GROUPS_END                                                                          \
    {                                                                                              \
        NULL, NULL, NULL                                                                           \
    }

/* `value` of a habit without an equivalent among our options. */
enum { HABIT_REFUSED = 0, HABIT_NEEDLESS = -1 };

/*
 * An option of another program, which people type by habit. It is the same as one of ours, needless, or refused with a
 * line that says what to type here.
 */
struct option_habit {
    int value;        /* of the option that it is the same as, or HABIT_... */
    char letter;      /* 0: no short form */
    const char *name; /* NULL: no long form */
    enum option_takes takes;
    const char *argument; /* its name in help; NULL: none is shown */
    const char *text;     /* refused: what to type; else NULL */
};

struct option_habits {
    const char *of;                 /* "perf record" */
    const struct option_habit *all; /* up to one without a letter and a name */
    const char *needless;           /* why some are: "stacks are always recorded" */
};

#define OPTION_HABITS_END                                                                          \
    {                                                                                              \
        0, 0, NULL, TAKES_NOTHING, NULL, NULL                                                      \
    }

#endif
