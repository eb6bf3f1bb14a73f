/*
 * What every subcommand shares: exit statuses, complaints, options.
 *
 * A complaint is one line on stderr. It flushes stdout first, so that what was valid stands before
 * it on a terminal, and so that a full disk is noticed before something less important is said.
 */
#ifndef CLI_TOOL_H
#define CLI_TOOL_H

#include <stdbool.h>
#include <stddef.h>

#include "cli/option_table.h"
#include "cli/tool_exit.h"
#include "symbols/fault.h"
#include "util/nearest.h"

struct tool_command {
    const char *name;
    const char *summary;                /* for `sfb --help` */
    const char *usage;                  /* how it is called, a form a line */
    const char *about;                  /* what it does: before the options */
    const struct option_group *options; /* in groups */
    const struct option_habits *habits; /* NULL: none */
    const char *more;                   /* behind the options; NULL: nothing */
    const char *exits;                  /* of its exit status; NULL: nothing */
    bool
        runs_program; /* options end at the first other word: the program, with options of its own */
    enum tool_exit (*run)(const struct tool_command *command, int argc, char **argv);
};

extern const struct tool_command tool_dump;
extern const struct tool_command tool_decode;
extern const struct tool_command tool_encode;
extern const struct tool_command tool_check;
extern const struct tool_command tool_diff;
extern const struct tool_command tool_symbolize;
extern const struct tool_command tool_collect;
extern const struct tool_command tool_merge;
extern const struct tool_command tool_synth;
extern const struct tool_command tool_record;
extern const struct tool_command tool_report;
extern const struct tool_command tool_stack;
extern const struct tool_command tool_ctl;

/* The name of a command's option. */
const char *tool_option_name(const struct tool_command *command, int value);

/* Says "sfb: <text>" on stderr, as one line whatever bytes the text has: foreign.h.
 * @return exit_status */
enum tool_exit tool_complain(enum tool_exit exit_status, const char *format, ...)
    __attribute__((format(printf, 2, 3)));

/* Says what is wrong with an ELF file, and where. @return exit_status */
enum tool_exit tool_complain_of(enum tool_exit exit_status, const char *name,
                                const struct object_fault *fault);

/* Says what is wrong with the arguments and where to read more. @return TOOL_USAGE */
enum tool_exit tool_misused(const struct tool_command *command, const char *format, ...)
    __attribute__((format(printf, 2, 3)));

/* Writes " (did you mean '--top'?)" of names that are near, or nothing. @return to */
const char *tool_guesses(char *to, size_t size, const struct nearest *nearest, const char *before);

/* Pushes stdout out, and complains once if that fails. @return false if it failed, now or before */
bool tool_flush(void);

/* The worse of two: what a command that goes on after a complaint exits with. */
enum tool_exit tool_worse(enum tool_exit a, enum tool_exit b);

#endif
