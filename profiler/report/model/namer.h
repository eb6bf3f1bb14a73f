/*
 * What is at an address of a recorded process. The model asks through this interface, so that tests can give it names
 * of their own; symbol_names.h beside it asks the symboliser, and traces of other tools have names with them.
 */
#ifndef PROFILER_REPORT_MODEL_NAMER_H
#define PROFILER_REPORT_MODEL_NAMER_H

#include "profiler/report/model/data.h"

enum report_kind {
    REPORT_NATIVE,    /* code of a module */
    REPORT_MADE,      /* made by the process, with the name that it gave */
    REPORT_NO_MODULE, /* what is there is not known */
    REPORT_CODE       /* a function of an interpreter */
};

/* What stands for a module where a function is of Python. */
#define REPORT_PYTHON_MODULE "[python]"

/* Where an address is. Strings and bytes are good until use() is called; one module has the same each time. */
struct report_place {
    enum report_kind kind;
    const char *path; /* of the module; NULL: none */
    const uint8_t *build_id;
    size_t build_id_size; /* 0: none */
    uint64_t start, end;  /* where the module is; 0: none */
};

/* A function at an address. Strings are good for the call only. */
struct report_named {
    const char *name;        /* as it is to be shown; NULL: not known */
    const char *system_name; /* as linked; NULL: not known */
    const char *file;        /* with its directory; NULL: not known */
    uint32_t line, column;   /* 0: not known */
    bool inlined;            /* into the next one */
    uint64_t start;          /* where it begins, or the address asked for: names what has no name */
};

/* The segment of a module that is code, as /proc/PID/maps has it. */
struct report_code {
    uint64_t start, end; /* in the process */
    uint64_t offset;     /* of its start in the file */
};

struct report_namer {
    void *user;
    /* From now on addresses are of a process, with these modules. @return false: no memory */
    bool (*use)(void *user, const struct report_data *data, uint32_t process, uint32_t list);
    void (*place)(void *user, uint64_t lookup, struct report_place *out);
    /* From the innermost inlined function to the one that contains them all, which always comes. */
    void (*find)(void *user, uint64_t lookup, void (*visit)(void *, const struct report_named *),
                 void *visit_user);
    /* Where the code of a module is, by its file: pprof wants it. NULL: never known. @return false: not known */
    bool (*code)(void *user, const struct report_place *module, struct report_code *out);
    /*
     * The bytes of a module's code at an address, from its file. NULL: never known.
     *
     * @param machine  written: EM_X86_64, ...
     * @return how many; 0: not known
     */
    size_t (*bytes)(void *user, const struct report_place *module, uint64_t address, uint8_t *out,
                    size_t size, uint16_t *machine);
    /*
     * The object of data at an address of a module: "pool", or "pool+0x28" inside of it. NULL: never known.
     *
     * @param start  where the module begins, in the process
     * @return false: not known
     */
    bool (*data)(void *user, const char *path, uint64_t start, uint64_t address, char *out,
                 size_t room);
};

#endif
