/* Everything about one function, for a bug report. */
#ifndef CHECK_EXTRACT_H
#define CHECK_EXTRACT_H

#include "../input.h"
#include "../tool.h"
#include "check.h"

/* @param fde  as findings count them */
enum tool_exit extract_function(const struct input *input, uint64_t fde,
                                const struct check_options *options);

#endif
