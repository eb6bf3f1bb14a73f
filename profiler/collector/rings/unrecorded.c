#include "profiler/collector/rings/unrecorded.h"

#include <inttypes.h>
#include <stdio.h>

#include "profiler/collector/rings/drain.h"
#include "profiler/collector/rings/slots.h"

enum { LEAST_NS = 10000000, SHARE = 100, MS = 1000000 };

void sfb_recorder_drain_unrecorded(struct sfb_recorder_drain *d, const char *program,
                                   uint64_t cpu_ns)
{
    sfb_recorder_programs_add(&d->unrecorded.without, program, cpu_ns);
}

void sfb_recorder_drain_account(struct sfb_recorder_drain *d, uint64_t used_ns,
                                uint64_t elsewhere_ns, char *text, size_t room)
{
    const uint64_t recorded = d->totals.cpu - d->totals.cpu_left + elsewhere_ns;
    const uint64_t missing = used_ns > recorded ? used_ns - recorded : 0;
    const uint64_t known = sfb_recorder_programs_sum(&d->unrecorded.loading) +
                           sfb_recorder_programs_sum(&d->unrecorded.without);
    size_t size;

    text[0] = '\0';
    if (missing < LEAST_NS || missing < used_ns / SHARE)
        return;
    size = (size_t)snprintf(text, room, "all used %" PRIu64 " ms", used_ns / MS);
    size += sfb_recorder_programs_put(text + size, room - size,
                                      "; before an agent was loaded: ", &d->unrecorded.loading);
    size += sfb_recorder_programs_put(text + size, room - size,
                                      "; without an agent: ", &d->unrecorded.without);
    if (missing > known + LEAST_NS && size < room)
        snprintf(text + size, room - size,
                 "; %" PRIu64 " ms by programs that were not seen, or behind an agent's end",
                 (missing - known) / MS);
    sfb_recorder_lost(d, 0, 0, SFB_LOSS_CPU, missing / MS, text);
}
