/*
 * A trace of apitrace as a recording of calls, for `sfb report`: each call is a sample of weight 1, whose innermost frame is
 * what was called. Its addresses are numbers of frames, and the trace has their names.
 */
#ifndef CONTRIB_APITRACE_APITRACE_RECORDING_H
#define CONTRIB_APITRACE_APITRACE_RECORDING_H

#include "contrib/apitrace/apitrace.h"
#include "profiler/report/model/namer.h"

struct apitrace_totals {
    uint64_t calls; /* of the program */
    uint64_t bare;  /* those without a stack */
    char fault
        [192]; /* what is wrong with the trace; "": nothing. The recording has what is before it */
};

/*
 * Reads a trace, and writes the recording.
 *
 * @param trace  to be freed in any case; with a recording not before its names were asked for
 * @param written  when the file was written, ns since 1970: sources that are newer have changed
 * @param fd     of an empty file, open for writing
 * @return false: there is no recording, and totals->fault says why not
 */
bool apitrace_record(struct apitrace *trace, struct apitrace_totals *totals, const uint8_t *file,
                     size_t size, const char *path, uint64_t written, int fd);

/* Names of such a recording. */
struct report_namer apitrace_namer(const struct apitrace *trace);

#endif
