/*
 * What every subcommand shares: exit statuses, complaints, options.
 *
 * A complaint is one line on stderr. It flushes stdout first, so that what was valid stands before
 * it on a terminal, and so that a full disk is noticed before something less important is said.
 */
#ifndef TOOL_H
#define TOOL_H

#include <getopt.h>
#include <stdbool.h>
#include <stddef.h>

#include "object/fault.h"

enum tool_exit {
    TOOL_DONE = 0,
    TOOL_BAD_DATA = 1, /* findings, or data that contradicts its format */
    TOOL_USAGE = 2,    /* wrong arguments, or input or output that cannot be read or written */
    /* Of commands that run a program, whose own status is theirs: env(1)'s. */
    TOOL_FAILED = 125,
    TOOL_NOT_EXECUTABLE = 126,
    TOOL_NOT_FOUND = 127
};

/* `val` of long options that have no letter: above all that are one. */
enum tool_option_value { TOOL_OPTION_HELP = 256, TOOL_OPTION_FIRST };

/* The entry of --help in an option table. */
#define TOOL_OPTION_HELP_ENTRY                                                                     \
    {                                                                                              \
        "help", no_argument, NULL, TOOL_OPTION_HELP                                                \
    }

struct tool_command {
    const char *name;
    const char *summary;    /* for `sfb --help` */
    const char *usage;      /* for `sfb NAME --help`, from its first word to its last newline */
    const char *usage_more; /* what follows: C has strings of 4,095 bytes; NULL: nothing does */
    bool
        runs_program; /* its options end at the first word that is none: what follows has its own */
    enum tool_exit (*run)(const struct tool_command *command, int argc, char **argv);
};

extern const struct tool_command tool_dump;
extern const struct tool_command tool_decode;
extern const struct tool_command tool_encode;
extern const struct tool_command tool_check;
extern const struct tool_command tool_diff;
extern const struct tool_command tool_symbolize;
extern const struct tool_command tool_collect;
extern const struct tool_command tool_synth;
extern const struct tool_command tool_record;
extern const struct tool_command tool_report;
extern const struct tool_command tool_ctl;

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

/*
 * Gives the next option, like getopt_long(), with --help done here.
 *
 * @return its `val`; -1 after the last one; '?' when the command has to stop with *exit_status
 */
int tool_option(const struct tool_command *command, int argc, char **argv,
                const struct option *options, enum tool_exit *exit_status);

/* Pushes stdout out, and complains once if that fails. @return false if it failed, now or before */
bool tool_flush(void);

/* The worse of two: what a command that goes on after a complaint exits with. */
enum tool_exit tool_worse(enum tool_exit a, enum tool_exit b);

#endif
