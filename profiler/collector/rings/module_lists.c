#include "profiler/collector/rings/module_lists.h"

#include <string.h>

void sfb_recorder_modules_take(struct sfb_recorder_drain *d, uint32_t slot)
{
    struct sfb_recorder_process *own = &d->process[slot];
    struct sfb_shared_process *shared = &d->processes[slot];
    const uint32_t written = __atomic_load_n(&shared->modules_written, __ATOMIC_ACQUIRE);
    const uint32_t size = __atomic_load_n(&shared->modules_size, __ATOMIC_RELAXED);
    uint64_t time =
        sfb_recorder_time(d, slot, __atomic_load_n(&shared->modules_time, __ATOMIC_RELAXED));

    if (written == own->modules)
        return;
    own->modules = written;
    if (size > SFB_SHARED_MODULES) {
        sfb_recorder_lost(d, own->id, 0, SFB_LOSS_MODULES, 1, "a list that cannot be as long");
    } else {
        if (time < d->begun || time > d->now)
            time = d->now;
        memcpy(d->modules, shared->modules, size);
        const struct sfb_recording_modules modules = {
            .process = own->id, .time = time, .map = d->modules, .size = size
        };
        if (!sfb_recorder_put(d, sfb_recording_put_modules(d->writer, &modules)) && !d->failed)
            sfb_recorder_lost(d, own->id, 0, SFB_LOSS_MODULES, 1, "a list that cannot be read");
    }
    __atomic_store_n(&shared->modules_taken, written, __ATOMIC_RELEASE);
}
