/* Everything about one function, for a bug report. */
#ifndef CLI_CHECK_EXTRACT_H
#define CLI_CHECK_EXTRACT_H

#include "cli/tool.h"
#include "toolchain/check/check.h"
#include "util/input.h"

/* @param fde  as findings count them */
enum tool_exit extract_function(const struct input *input, uint64_t fde,
                                const struct check_options *options);

#endif
