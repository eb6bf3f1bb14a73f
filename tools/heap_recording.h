/* Dumps of live tables as a recording: what lives, and no events. */
#ifndef HEAP_RECORDING_H
#define HEAP_RECORDING_H

#include <stdint.h>

#include "recorder/live_view.h"
#include "sfb/recording.h"

struct heap_recording {
    int fd;
    struct sfb_recording_writer *writer; /* NULL: no dump began yet */
    enum sfb_status status;              /* the first fault */
    uint32_t process, site;              /* ids given last */
    uint64_t time; /* of what is written last: a list of modules holds from its time on */
    uint64_t rate;
};

/*
 * Begins one in an empty file.
 *
 * @param visitor  written: dumps are told to it, one after the other; each begins a process
 */
void heap_recording_begin(struct heap_recording *out, int fd, struct sfb_live_visitor *visitor);

/* Ends it. @return SFB_OK; SFB_NO_RESOURCE: it cannot be written; SFB_BAD_ARGUMENT: no dump was told, or it is damaged */
enum sfb_status heap_recording_end(struct heap_recording *recording);

#endif
