/* Writes dumps of live tables as a recording of live blocks, without events. */
#ifndef PROFILER_COLLECTOR_LIVE_HEAP_RECORDING_H
#define PROFILER_COLLECTOR_LIVE_HEAP_RECORDING_H

#include <stdint.h>

#include "profiler/protocol/live_view.h"
#include "sfb/recording.h"

struct heap_recording {
    int fd;
    struct sfb_recording_writer *writer; /* NULL: no dump has begun */
    enum sfb_status status;              /* the first fault */
    uint64_t no_stack;                   /* blocks recorded without their stack */
    uint32_t process, site;              /* last ids given */
    uint64_t time; /* of the last entry: a list of modules is valid from its time on */
    uint64_t rate;
};

/*
 * Begins a recording in an empty file.
 *
 * @param visitor  written: receives dumps one after the other; each begins a process
 */
void heap_recording_begin(struct heap_recording *out, int fd, struct sfb_live_visitor *visitor);

/* Ends it. @return SFB_OK; SFB_NO_RESOURCE: a write failed; SFB_BAD_ARGUMENT: no dump came, or a dump is damaged */
enum sfb_status heap_recording_end(struct heap_recording *recording);

#endif
