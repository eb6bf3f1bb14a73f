/*
 * Several recordings of CPU time as one: processes of one program are one, threads of one name, and stacks of the same places.
 * Samples keep their real time. One input is in memory at a time; what stays is by distinct programs, threads, modules and
 * stacks.
 */
#ifndef PROFILER_REPORT_MODEL_MERGE_H
#define PROFILER_REPORT_MODEL_MERGE_H

#include "profiler/report/model/data.h"

struct report_merge; /* opaque */

/* What inputs have in common: the merged recording's beginning. */
struct report_merge_start {
    uint64_t realtime; /* of the first one */
    uint64_t tick_ns;
    uint32_t rate_hz, engine, abi;
    char *host, *command; /* "": they differ */
    size_t command_size;
    struct labels labels; /* the common ones */
    bool labels_differ;
    size_t count; /* inputs so far */
};

/* Adds the beginning of an input. @return false: no memory */
bool report_merge_start_add(struct report_merge_start *start,
                            const struct sfb_recording_start *input);

void report_merge_start_free(struct report_merge_start *start);

/*
 * @param fd  of an empty file
 * @return SFB_OK; SFB_NO_RESOURCE: errno says why. out is to be closed in any case
 */
enum sfb_status report_merge_open(struct report_merge **out, int fd,
                                  const struct report_merge_start *start);

/* Ends it. @return the first fault of all, with errno */
enum sfb_status report_merge_close(struct report_merge *merge);

#endif
