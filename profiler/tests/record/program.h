/* The modes of the program, by what they are about: tables that end with a NULL name. */
#ifndef RECORD_PROGRAM_H
#define RECORD_PROGRAM_H

struct program_mode {
    const char *name;
    int (*run)(char *words[]); /* those behind the mode, NULL behind the last */
};

extern const struct program_mode program_ends[];
extern const struct program_mode program_threads[];
extern const struct program_mode program_children[];
extern const struct program_mode program_signals[];
extern const struct program_mode program_calls[];
extern const struct program_mode program_filter[];
extern const struct program_mode program_libraries[];

#endif
