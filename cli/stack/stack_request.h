/* What `sfb stack` was asked for. */
#ifndef CLI_STACK_STACK_REQUEST_H
#define CLI_STACK_STACK_REQUEST_H

#include <stdbool.h>
#include <stdint.h>
#include <sys/types.h>

#include "cli/places.h"
#include "cli/tool.h"
#include "symbols/demangle.h"

enum stack_format { STACK_TEXT, STACK_JSON, STACK_CBF };

/* Which functions of a stack are shown. */
enum stack_languages {
    STACK_MIXED,  /* a Python function in place of the interpreter's function that runs it */
    STACK_NATIVE, /* both */
    STACK_PYTHON  /* Python functions alone */
};

struct stack_request {
    const struct tool_command *command;
    pid_t pid;         /* 0: a core */
    const char *core;  /* a core file's path */
    pid_t tid;         /* 0: all threads */
    const char *root;  /* of the machine that the core is from; NULL: our / */
    uint64_t max_core; /* bytes that it may have unpacked; 0: the default */
    bool children, no_stop, consistent;
    double watch; /* seconds between rounds; 0: one round */
    uint32_t max_frames;
    enum stack_format format;
    unsigned formats; /* how many were named */
    enum object_name_style names;
    bool names_given;
    enum stack_languages languages;
    struct places places;
};

#endif
