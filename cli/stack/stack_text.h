/* The stacks of a process as text: equal ones once. */
#ifndef CLI_STACK_STACK_TEXT_H
#define CLI_STACK_STACK_TEXT_H

#include <stdbool.h>
#include <sys/types.h>

#include <sfb/remote.h>

#include "cli/stack/stack_request.h"
#include "symbols/demangle.h"
#include "symbols/symbols.h"

struct stack_text {
    const struct sfb_remote *remote;
    pid_t pid;        /* 0: a core */
    const char *name; /* of the process */
    struct symbols *symbols;
    enum object_name_style names;
    enum stack_languages languages;
};

/* @return false: no memory */
bool stack_text_print(const struct stack_text *print);

#endif
