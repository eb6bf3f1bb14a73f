#include "profiler/collector/rings/ring_reader.h"

#include <limits.h>
#include <linux/futex.h>
#include <stddef.h>
#include <string.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "profiler/collector/rings/module_lists.h"
#include "profiler/collector/rings/stack.h"

enum { STALLS_MAX = 2 };

#define LOAD(member)    __atomic_load_n(&(member), __ATOMIC_RELAXED)
#define ACQUIRE(member) __atomic_load_n(&(member), __ATOMIC_ACQUIRE)

/* A sample is older than the look that finds it. */
static bool is_time(const struct sfb_recorder_drain *d, uint64_t time)
{
    return time >= d->begun && time <= d->now;
}

static void begin(struct sfb_recorder_drain *d, uint32_t slot)
{
    const struct sfb_shared_ring *shared = sfb_recorder_shared_ring(d, slot);
    const uint32_t state = ACQUIRE(shared->state);
    struct sfb_recorder_ring *own = &d->ring[slot];
    uint32_t process;
    uint32_t continued;
    uint64_t start;
    char name[sizeof shared->name + 1] = "";

    if (state != SFB_SLOT_LIVE && state != SFB_SLOT_ENDED)
        return; /* the agent has not yet written the members below */
    process = LOAD(shared->process);
    if (process >= SFB_SHARED_PROCESS_MAX || d->process[process].id == 0 ||
        d->process[process].pid != LOAD(shared->pid))
        return;
    continued = d->watcher.thread_continued
                    ? d->watcher.thread_continued(d->watcher.with, process, LOAD(shared->tid))
                    : 0;
    *own = (struct sfb_recorder_ring){ .id = continued != 0 ? continued : ++d->ids->thread,
                                       .process = process,
                                       .tid = LOAD(shared->tid),
                                       .engine = LOAD(shared->engine),
                                       .cpu_start = LOAD(shared->cpu_start) };
    if (d->paused) /* since its beginning */
        own->pause_cpu = own->cpu_start > 0 ? own->cpu_start : 1;
    if (own->engine > SFB_ENGINE_SAMPLER)
        own->engine = SFB_ENGINE_NONE;
    if (d->heap_calls && !d->heap_calls->ring_begin(d, slot)) {
        own->id = 0;
        sfb_recorder_put(d, SFB_NO_RESOURCE);
        return;
    }
    start = sfb_recorder_time(d, process, LOAD(shared->start));
    memcpy(name, shared->name, sizeof shared->name);
    sfb_recorder_put_thread(d, slot, is_time(d, start) ? start : d->now, name);
    d->totals.threads += continued == 0;
    if (state == SFB_SLOT_LIVE && d->watcher.thread_began)
        d->watcher.thread_began(d->watcher.with, slot, process, own->tid);
}

static void look_at_all(struct sfb_recorder_drain *d)
{
    for (uint32_t i = d->ring_end;; i++) {
        i = sfb_recorder_slot_written(d, SFB_SHARED_RINGS_AT, sfb_shared_ring_stride(d->ring_bytes),
                                      i, SFB_SHARED_RING_MAX);
        if (i == SFB_SHARED_RING_MAX)
            break;
        if (ACQUIRE(sfb_recorder_shared_ring(d, i)->state) != SFB_SLOT_FREE)
            d->ring_end = i + 1;
    }
}

void sfb_recorder_rings_begin(struct sfb_recorder_drain *d, bool all)
{
    if (all)
        look_at_all(d);
    for (uint32_t i = 0; i < d->ring_end; i++)
        if (d->ring[i].id == 0)
            begin(d, i);
}

/* --- records ------------------------------------------------------------------------------------ */

/*
 * Writes the stack of a record.
 *
 * @param last  does not wait for functions that it names
 * @return its fault; NULL: no fault, and *stalled is set if a function is missing
 */
static const char *put_stack(struct sfb_recorder_drain *d, struct sfb_recorder_process *process,
                             const struct sfb_shared_sample *sample, size_t size, bool *stalled,
                             bool last, uint32_t *id)
{
    struct sfb_recording_code_frame *frames = d->calls;
    const uint8_t *cbf = d->record + sizeof *sample;
    const size_t calls_at = sizeof *sample + ((sample->head.cbf_size + 7u) & ~7u);
    const char *wrong = NULL;
    bool missing;

    if (sample->head.cbf_size > size - sizeof *sample || sample->hash == 0 ||
        !sfb_recorder_is_cbf(cbf, sample->head.cbf_size))
        return "a stack cannot be decoded";
    if (sample->calls > SFB_SHARED_CALLS_MAX ||
        (sample->calls > 0 &&
         (calls_at > size || sample->calls > (size - calls_at) / sizeof(struct sfb_shared_call))))
        return "a stack has an impossible number of calls";
    if (sample->gil > SFB_GIL_RELEASED)
        return "a stack has an impossible state of the GIL";
    wrong = sfb_recorder_codes_frames(frames, &process->codes, d->record + calls_at, sample->calls,
                                      &missing);
    if (wrong)
        return wrong;
    if (missing && !last) {
        *stalled = true;
        return NULL;
    }
    const struct sfb_recording_code_frames code = { .frames = frames,
                                                    .count = sample->calls,
                                                    .gil = sample->gil };

    sfb_recorder_put(d, sfb_recording_put_stack_of_code(d->writer, id, process->id, cbf,
                                                        sample->head.cbf_size, &code));
    return *id != 0 || d->failed ? NULL : "a stack cannot be written";
}

/*
 * Writes a sample, with its stack if the record has one.
 *
 * @param last  does not wait: a sample of an unknown hash gets no stack
 * @return its fault; NULL: no fault, and *stalled is set if its stack is missing
 */
static const char *take_sample(struct sfb_recorder_drain *d, uint32_t slot, size_t size,
                               bool *stalled, bool last)
{
    struct sfb_recorder_ring *own = &d->ring[slot];
    struct sfb_recorder_process *process = &d->process[own->process];
    const char *wrong = NULL;
    struct sfb_shared_sample sample;
    uint32_t id = 0;

    if (size < sizeof sample)
        return "a sample is too short";
    memcpy(&sample, d->record, sizeof sample);
    sample.time = sfb_recorder_time(d, own->process, sample.time);
    if (!is_time(d, sample.time) || !sfb_recorder_is_cpu(d, sample.weight))
        return "a sample's time or weight is impossible";
    if (sample.engine == SFB_ENGINE_NONE || sample.engine > SFB_ENGINE_SAMPLER || sample.end >= 256)
        return "a sample's engine or end is unknown";
    /* The stack belongs to a later module list: that is written before it. */
    if (sample.modules - process->modules - 1 < UINT32_MAX / 2)
        sfb_recorder_modules_take(d, own->process);
    if (sample.head.kind == SFB_RECORD_STACK) {
        wrong = put_stack(d, process, &sample, size, stalled, last, &id);
        if (wrong || *stalled || id == 0)
            return wrong;
        if (!sfb_recorder_dictionary_add(&process->stacks, sample.hash, id,
                                         d->processes[own->process].known))
            sfb_recorder_put(d, SFB_NO_RESOURCE);
    } else if (sample.hash != 0) {
        id = sfb_recorder_dictionary_find(&process->stacks, sample.hash);
        if (id == 0 && !last) {
            *stalled = true;
            return NULL;
        }
        wrong = id == 0 ? "a stack is named that was not sent" : NULL;
    }
    const struct sfb_recording_sample out = { .thread = own->id,
                                              .stack = id,
                                              .time = sample.time,
                                              .weight = sample.weight,
                                              .engine = sample.engine,
                                              .end = sample.end };
    if (sfb_recorder_put(d, sfb_recording_put_sample(d->writer, &out))) {
        own->weight += sample.weight;
        process->accounted += sample.weight;
        d->totals.samples++;
        d->totals.weight += sample.weight;
    }
    return wrong;
}

static const char *take_name(struct sfb_recorder_drain *d, uint32_t slot, size_t size)
{
    struct sfb_shared_name record;
    char name[sizeof record.name + 1] = "";

    if (size < sizeof record)
        return "a name is too short";
    memcpy(&record, d->record, sizeof record);
    memcpy(name, record.name, sizeof record.name);
    sfb_recorder_put_thread(d, slot, d->now, name);
    return NULL;
}

const char *sfb_recorder_take_code(struct sfb_recorder_drain *d, uint32_t slot,
                                   const uint8_t *record, size_t size)
{
    struct sfb_recorder_process *process = &d->process[d->ring[slot].process];
    struct sfb_recorder_code_text text;
    struct sfb_shared_code code;
    const char *wrong = sfb_recorder_code_read(&code, &text, record, size);
    const bool was_full = process->codes.full;

    if (wrong || sfb_recorder_codes_has(&process->codes, code.code))
        return wrong;
    if (!sfb_recorder_codes_have_room(&process->codes, &d->codes_kept)) {
        if (!was_full) /* an agent sends a function again that it has forgotten: said once */
            sfb_recorder_lost(d, process->id, 0, SFB_LOSS_PYTHON_FUNCTIONS, 1, "");
        return NULL;
    }
    const struct sfb_recording_code out = { .id = ++d->ids->code,
                                            .process = process->id,
                                            .first_line = code.first_line,
                                            .name = text.name,
                                            .file = text.file };

    if (sfb_recorder_put(d, sfb_recording_put_code(d->writer, &out)) &&
        !sfb_recorder_codes_add(&process->codes, &d->codes_kept, &code, &text, out.id))
        sfb_recorder_put(d, SFB_NO_RESOURCE);
    return NULL;
}

/* @param size  of the copied record, already checked */
static const char *take(struct sfb_recorder_drain *d, uint32_t slot, size_t size, bool *stalled,
                        bool last)
{
    struct sfb_shared_record_head head;

    memcpy(&head, d->record, sizeof head);
    switch (head.kind) {
    case SFB_RECORD_PAD: return NULL;
    case SFB_RECORD_STACK:
    case SFB_RECORD_SAMPLE: return take_sample(d, slot, size, stalled, last);
    case SFB_RECORD_NAME: return take_name(d, slot, size);
    case SFB_RECORD_CODE: return sfb_recorder_take_code(d, slot, d->record, size);
    default: return "a record of an unknown kind";
    }
}

/* Copies the record at tail. @return its size; 0: an impossible size */
static size_t copy_record(struct sfb_recorder_drain *d, uint32_t slot, uint64_t head)
{
    const uint8_t *data = sfb_recorder_shared_ring(d, slot)->data;
    const uint64_t left = head - d->ring[slot].tail;
    const size_t at = (size_t)(d->ring[slot].tail % d->ring_bytes);
    size_t room = d->ring_bytes - at;
    uint32_t size;

    if (left < room)
        room = (size_t)left;
    if (room < sizeof(struct sfb_shared_record_head))
        return 0;
    memcpy(&size, data + at, sizeof size);
    if (size % 8 != 0 || size < sizeof(struct sfb_shared_record_head) || size > room)
        return 0;
    memcpy(d->record, data + at, size);
    return size;
}

static void move_to(struct sfb_recorder_drain *d, uint32_t slot, uint64_t position)
{
    d->ring[slot].tail = position;
    d->ring[slot].stalls = 0;
    __atomic_store_n(&sfb_recorder_shared_ring(d, slot)->tail, position, __ATOMIC_RELEASE);
}

static void count_bad(struct sfb_recorder_drain *d, uint32_t slot, const char *text)
{
    const struct sfb_recorder_ring *own = &d->ring[slot];

    sfb_recorder_lost(d, d->process[own->process].id, own->id, SFB_LOSS_BAD_RING, 1, text);
}

/*
 * Reads records up to head.
 *
 * @param last  does not wait for missing stacks
 * @return whether head was reached; else a stack is missing
 */
static bool read_ring(struct sfb_recorder_drain *d, uint32_t slot, bool last)
{
    struct sfb_recorder_ring *own = &d->ring[slot];
    const uint64_t head = ACQUIRE(sfb_recorder_shared_ring(d, slot)->head);

    d->now = sfb_recorder_now();
    if (head - own->tail > d->ring_bytes || head % 8 != 0) {
        count_bad(d, slot, "its positions contradict each other");
        move_to(d, slot, head - head % 8);
        return true;
    }
    while (own->tail != head && !d->failed) {
        const size_t size = copy_record(d, slot, head);
        const bool waited = last || own->stalls >= STALLS_MAX;
        const char *wrong;
        bool stalled = false;

        if (size == 0) {
            count_bad(d, slot, "a record has an impossible size");
            move_to(d, slot, head);
            break;
        }
        wrong = take(d, slot, size, &stalled, waited);
        if (stalled) {
            own->stalls++;
            return false;
        }
        if (wrong)
            count_bad(d, slot, wrong);
        move_to(d, slot, own->tail + size);
    }
    return true;
}

/* @return whether a record's stack is missing */
static bool read_each(struct sfb_recorder_drain *d, uint32_t process, bool last)
{
    bool stalled = false, moved = false;

    for (uint32_t i = 0; i < d->ring_end && !d->failed; i++) {
        const uint64_t before = d->ring[i].tail;

        if (d->ring[i].id == 0 ||
            (process != SFB_SHARED_PROCESS_MAX && d->ring[i].process != process))
            continue;
        stalled |= !read_ring(d, i, last);
        moved |= d->ring[i].tail != before;
    }
    /* A ring that moved may have brought the stacks that others wait for. */
    for (uint32_t i = 0; moved && i < d->ring_end; i++)
        d->ring[i].stalls = 0;
    return stalled;
}

/*
 * A missing stack was published before the record that names it: in a ring that was read too early, or in the ring of a
 * thread that has just begun. It is lost if new rings were read, and no ring moved in a whole pass.
 */
void sfb_recorder_rings_read(struct sfb_recorder_drain *d, uint32_t process)
{
    enum { PASSES_MAX = 64 }; /* bound: the program could write records for ever */

    for (unsigned pass = 0; read_each(d, process, false); pass++) {
        if (pass == PASSES_MAX) {
            if (d->finishing || process != SFB_SHARED_PROCESS_MAX)
                read_each(d, process, true);
            return;
        }
        sfb_recorder_rings_begin(d, true);
    }
}

/* --- its end ------------------------------------------------------------------------------------- */

/*
 * @return CPU time that the thread used since it began here; 0: unknown. If the thread did not report it, the value is an
 *         estimate bounded by its process's.
 */
static uint64_t cpu_of(const struct sfb_recorder_drain *d, uint32_t slot, uint64_t end,
                       uint64_t cpu_end)
{
    const struct sfb_recorder_ring *own = &d->ring[slot];
    const struct sfb_recorder_process *process = &d->process[own->process];
    uint64_t cpu = 0, most;

    if (end == 0 &&
        (!d->watcher.thread_cpu || !d->watcher.thread_cpu(d->watcher.with, slot, &cpu_end)))
        return 0;
    if (cpu_end < own->cpu_start || !sfb_recorder_is_cpu(d, cpu_end - own->cpu_start))
        return 0;
    cpu = cpu_end - own->cpu_start;
    most = own->weight + own->paused +
           (process->cpu > process->accounted ? process->cpu - process->accounted : 0);
    return end == 0 && process->cpu != 0 && cpu > most ? most : cpu;
}

/* At the thread's end: adds what it has used since the pause of now began. What no sample has of the time before is missed. */
static void add_last_pause(const struct sfb_recorder_drain *d, struct sfb_recorder_ring *own,
                           uint64_t cpu)
{
    const uint64_t at = own->cpu_start + cpu;

    if (d->paused && own->pause_cpu > 0)
        own->paused += at > own->pause_cpu ? at - own->pause_cpu : 0;
    else if (d->paused && !d->watcher.thread_cpu_now)
        own->paused = cpu; /* when the pause began is not known of any thread */
}

/*
 * What of a thread's CPU time is in no sample. What it used while the recording was paused is not part of it.
 *
 * @return 0 also if that is unknown
 */
static uint64_t rest_of(struct sfb_recorder_drain *d, uint32_t slot)
{
    const struct sfb_shared_ring *shared = sfb_recorder_shared_ring(d, slot);
    struct sfb_recorder_ring *own = &d->ring[slot];
    const uint64_t paused = LOAD(shared->cpu_paused);
    uint64_t cpu, rest;

    cpu = cpu_of(d, slot, LOAD(shared->end), LOAD(shared->cpu_end));
    own->cpu_known = cpu != 0;
    if (!d->heap_calls)
        add_last_pause(d, own, cpu);
    if (sfb_recorder_is_cpu(d, paused) && paused > own->paused)
        own->paused = paused;
    rest = cpu > own->weight ? cpu - own->weight : 0;
    if (cpu == 0 || d->heap_calls)
        return rest;
    if (own->paused > rest)
        own->paused = rest;
    return rest - own->paused;
}

static void pause_process(struct sfb_recorder_drain *d, uint32_t slot, bool paused)
{
    struct sfb_recorder_process *own = &d->process[slot];
    uint64_t cpu = 0;

    if (own->id == 0)
        return;
    if (d->watcher.process_cpu && !d->watcher.process_cpu(d->watcher.with, slot, &cpu))
        cpu = 0;
    if (!paused && own->pause_cpu > 0 && cpu > own->pause_cpu)
        own->in_pauses += cpu - own->pause_cpu;
    own->pause_cpu = paused ? cpu : 0;
}

void sfb_recorder_rings_pause(struct sfb_recorder_drain *d, bool paused)
{
    for (uint32_t i = 0; i < d->process_end; i++)
        pause_process(d, i, paused);
    for (uint32_t i = 0; i < d->ring_end; i++) {
        struct sfb_recorder_ring *own = &d->ring[i];
        uint64_t cpu = 0;

        if (own->id == 0)
            continue;
        if (d->watcher.thread_cpu_now && !d->watcher.thread_cpu_now(d->watcher.with, i, &cpu))
            cpu = 0;
        if (!paused && own->pause_cpu > 0 && cpu > own->pause_cpu)
            own->paused += cpu - own->pause_cpu;
        own->pause_cpu = paused ? cpu : 0;
        if (!paused)
            __atomic_store_n(&sfb_recorder_shared_ring(d, i)->cpu_resumed, cpu, __ATOMIC_RELAXED);
    }
}

/* A thread may wait for a ring: on the state of one whose thread has ended. */
static void clear(const struct sfb_recorder_drain *d, uint32_t slot)
{
    struct sfb_shared_ring *shared = sfb_recorder_shared_ring(d, slot);

    memset((uint8_t *)shared + sizeof shared->state, 0,
           offsetof(struct sfb_shared_ring, data) - sizeof shared->state);
    __atomic_store_n(&shared->state, SFB_SLOT_FREE, __ATOMIC_RELEASE);
    sfb_recorder_slot_freed(&d->shared->free_ring, slot);
    syscall(SYS_futex, &shared->state, FUTEX_WAKE, INT_MAX, NULL, NULL, 0);
}

void sfb_recorder_ring_end(struct sfb_recorder_drain *d, uint32_t slot)
{
    struct sfb_shared_ring *shared = sfb_recorder_shared_ring(d, slot);
    struct sfb_recorder_ring *own = &d->ring[slot];
    struct sfb_recorder_process *process = &d->process[own->process];
    const uint64_t end = LOAD(shared->end), time = sfb_recorder_time(d, own->process, end);
    const uint64_t rest = rest_of(d, slot);
    const struct sfb_recording_thread_end thread = {
        .id = own->id,
        .time = is_time(d, time) ? time : d->now,
        .cpu_ns = own->weight + rest,
        .unsampled_ns = d->heap_calls ? 0 : rest,
    };

    if (d->heap_calls)
        d->heap_calls->ring_end(d, slot);

    sfb_recorder_losses(d, shared->lost, own->lost, process->id, own->id);
    sfb_recorder_put(d, sfb_recording_put_thread_end(d->writer, &thread));
    process->accounted += thread.unsampled_ns + own->paused;
    process->paused += own->paused;
    process->threads_cpu += thread.cpu_ns + own->paused;
    process->threads_unknown |= !own->cpu_known;
    if (d->watcher.thread_ended)
        d->watcher.thread_ended(d->watcher.with, slot);
    own->id = 0;
    clear(d, slot);
}

void sfb_recorder_ring_unclaim(struct sfb_recorder_drain *d, uint32_t slot, uint32_t process,
                               uint32_t pid)
{
    struct sfb_shared_ring *shared = sfb_recorder_shared_ring(d, slot);

    if (ACQUIRE(shared->state) == SFB_SLOT_CLAIMED && LOAD(shared->process) == process &&
        LOAD(shared->pid) == pid)
        clear(d, slot);
}
