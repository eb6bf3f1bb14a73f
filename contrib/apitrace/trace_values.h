/* Values of arguments in a trace: passed over. What they declare at first use has to be known for the next use. */
#ifndef CONTRIB_APITRACE_TRACE_VALUES_H
#define CONTRIB_APITRACE_TRACE_VALUES_H

#include "contrib/apitrace/trace_bytes.h"
#include "util/array.h"
#include "util/index.h"

/* Declarations of one kind, by their ids. */
struct trace_ids {
    struct report_index ids;
    uint32_t count;
};

struct trace_values {
    unsigned version; /* of the format */
    struct trace_ids structs, enums, bitmasks;
    REPORT_ARRAY(uint64_t) members; /* of each struct, how many */
};

/*
 * Numbers the ids of declarations as they come.
 *
 * @param out   the number
 * @return whether it is the first use: a declaration follows. After a fault false
 */
bool trace_ids_take(struct trace_ids *ids, struct trace_bytes *bytes, uint32_t *out);

/* Passes over a value, with those within it. */
void trace_value_skip(struct trace_values *values, struct trace_bytes *bytes);

void trace_values_free(struct trace_values *values);

#endif
