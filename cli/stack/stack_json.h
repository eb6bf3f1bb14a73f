/* The stacks of a process as one line of JSON: profiler/docs/OUTSIDE.md has its members. */
#ifndef CLI_STACK_STACK_JSON_H
#define CLI_STACK_STACK_JSON_H

#include "cli/stack/stack_text.h"

void stack_json_print(const struct stack_text *print);

#endif
