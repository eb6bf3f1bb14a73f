/* The files that `sfb report` writes for other tools. Each is a line of the table in outputs.c, and an option. */
#ifndef CLI_REPORT_OUTPUTS_H
#define CLI_REPORT_OUTPUTS_H

#include <stdio.h>

#include "cli/report/request.h"
#include "profiler/report/model/model.h"

struct report_output {
    bool groups;      /* it shows a comparison: --diff */
    bool one_process; /* a file has one */
    bool packs;       /* a FILE that ends in .gz is packed: its readers take that */
    /* NULL: any model fits. @return NULL, or why the model does not fit this format */
    const char *(*refuses)(const struct report_model *model);
    /* @return false: no memory */
    bool (*write)(FILE *to, const struct report_model *model);
};

extern const struct report_output report_outputs[REPORT_OUTPUTS];

/* Writes all that are wanted. A file is whole or not there. @return TOOL_DONE; after a complaint why not */
enum tool_exit report_outputs_write(const struct report_request *request,
                                    const struct report_model *model);

#endif
