/* The modules of a recording: all that its processes ever had mapped. */
#ifndef CLI_COLLECT_RECORDING_MODULES_H
#define CLI_COLLECT_RECORDING_MODULES_H

#include <stdbool.h>

#include "cli/tool.h"
#include "symbols/symbols.h"
#include "util/input.h"

/* Whether a file begins as a recording does, of whatever version. */
bool recording_modules_are_in(const struct input *input);

/*
 * Calls for each module after its files were looked for, once for each list that it is in.
 *
 * @param exit_status  written after a complaint: what is damaged is not there
 * @return false: it is no recording that can be read, or no memory, after a complaint
 */
bool recording_modules_each(const struct input *input, struct symbols *symbols,
                            void (*visit)(void *user, struct module_file *file), void *user,
                            enum tool_exit *exit_status);

#endif
