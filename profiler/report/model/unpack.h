/*
 * From CBF to locations. A stack mostly has the outer frames of the stack before it: these are compared, and not
 * looked up again.
 */
#ifndef PROFILER_REPORT_MODEL_UNPACK_H
#define PROFILER_REPORT_MODEL_UNPACK_H

#include "profiler/report/model/locate.h"
#include "profiler/report/model/model.h"

struct report_unpacked {
    uint64_t *lookups; /* leaf first: where functions are looked for */
    uint32_t *
        locations; /* of each, or (uint32_t) of enum report_mark; of a stack that is cut off one more */
    size_t room;               /* of both */
    size_t count, frame_count; /* of lookups, of locations */
    size_t marks;              /* frames up to the outermost mark: they are not compared */
    uint32_t source, process, list;
};

struct report_unpacker {
    struct report_unpacked now, before;
};

/*
 * @param list  of the process's modules
 * @param out   the stack; valid until the next call
 * @return false: no memory
 */
bool report_unpack(struct report_unpacker *unpacker, struct report_locator *locator,
                   uint32_t source, const struct report_cbf *cbf, uint32_t list,
                   const struct report_unpacked **out, bool *truncated);

void report_unpacked_free(struct report_unpacked *unpacked);
void report_unpacker_free(struct report_unpacker *unpacker);

#endif
