/* The stacks of a core file. */
#ifndef CLI_STACK_STACK_CORE_H
#define CLI_STACK_STACK_CORE_H

#include "cli/stack/stack_request.h"

/* Reads and prints it. */
enum tool_exit stack_core_read(const struct stack_request *request);

#endif
