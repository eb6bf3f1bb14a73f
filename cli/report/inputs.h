/* The recordings of a report, with the names of what is in them. */
#ifndef CLI_REPORT_INPUTS_H
#define CLI_REPORT_INPUTS_H

#include "cli/report/request.h"
#include "profiler/report/model/model.h"

struct report_inputs {
    struct symbols *symbols; /* NULL: no file is looked for */
    struct report_data *data;
    struct report_symbol_names **names;
    struct apitrace_input **traces; /* of inputs that are traces of apitrace; NULL: of others */
    struct report_source *sources;
    size_t count;              /* that were read */
    enum tool_exit log_status; /* of logs that were read as recordings */
};

/*
 * Makes room for the recordings of a request, and reads none of them.
 *
 * @param out  to be closed in any case
 * @return TOOL_DONE; after a complaint why not
 */
enum tool_exit report_inputs_open(struct report_inputs *out, const struct report_request *request);

/*
 * Reads the next recording. In a comparison the last one is the new one.
 *
 * @return TOOL_DONE; after a complaint why not: nothing is to be shown
 */
enum tool_exit report_inputs_read(struct report_inputs *inputs,
                                  const struct report_request *request);

/* What a model has of a recording is not needed twice. */
void report_inputs_release(struct report_inputs *inputs, size_t number);

/* Says on stderr which ones are damaged. @return TOOL_BAD_DATA if one is */
enum tool_exit report_inputs_judge(const struct report_inputs *inputs,
                                   const struct report_request *request);

void report_inputs_close(struct report_inputs *inputs);

#endif
