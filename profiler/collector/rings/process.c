#include "profiler/collector/rings/process.h"

#include <fcntl.h>
#include <stddef.h>
#include <string.h>

#include "profiler/collector/rings/module_lists.h"
#include "profiler/collector/rings/ring_reader.h"

#define LOAD(member)    __atomic_load_n(&(member), __ATOMIC_RELAXED)
#define ACQUIRE(member) __atomic_load_n(&(member), __ATOMIC_ACQUIRE)

enum { PID_MOST = 1 << 22 }; /* PID_MAX_LIMIT of the kernel */

static const uint64_t just_ns = 1000000000;

/* Copied path and arguments, both terminated. */
struct text {
    char bytes[SFB_SHARED_TEXT + 2];
    const char *arguments;
    size_t arguments_size;
};

/* @return whether the text was well-formed */
static bool copy_text(struct text *out, const struct sfb_shared_process *shared)
{
    size_t size = LOAD(shared->text_size), path;
    bool good = size <= SFB_SHARED_TEXT;

    if (!good)
        size = 0;
    memcpy(out->bytes, shared->text, size);
    out->bytes[size] = '\0';
    if (size > 0 && out->bytes[size - 1] != '\0') {
        good = false;
        size++;
    }
    path = strlen(out->bytes) + 1;
    out->arguments = size > path ? out->bytes + path : "";
    out->arguments_size = size > path ? size - path : 0;
    return good;
}

/* @return the slot of a live process by its pid; SFB_SHARED_PROCESS_MAX: not found */
static uint32_t slot_of(const struct sfb_recorder_drain *d, uint32_t pid)
{
    for (uint32_t i = 0; i < d->process_end; i++)
        if (d->process[i].id != 0 && d->process[i].pid == pid)
            return i;
    return SFB_SHARED_PROCESS_MAX;
}

/* @return the slot of the live process that executed the program in `slot`; SFB_SHARED_PROCESS_MAX: not found */
static uint32_t before_of(const struct sfb_recorder_drain *d, uint32_t slot, uint32_t pid)
{
    uint32_t before = slot_of(d, pid);

    if (before == SFB_SHARED_PROCESS_MAX || !d->watcher.process_before)
        return before;
    before = d->watcher.process_before(d->watcher.with, slot, pid);
    return before < SFB_SHARED_PROCESS_MAX && d->process[before].id != 0 ? before
                                                                         : SFB_SHARED_PROCESS_MAX;
}

static uint32_t id_of(const struct sfb_recorder_drain *d, uint32_t pid)
{
    const uint32_t slot = slot_of(d, pid);

    return slot < SFB_SHARED_PROCESS_MAX ? d->process[slot].id : 0;
}

/* Across PID namespaces the parent's pid is 0 or another's: a forked process also reports its parent's slot. */
static uint32_t parent_of(const struct sfb_recorder_drain *d,
                          const struct sfb_shared_process *shared)
{
    const uint32_t pid = LOAD(shared->parent_pid), slot = LOAD(shared->parent) - 1;

    uint32_t id;

    if (pid == 0 && slot < SFB_SHARED_PROCESS_MAX && d->process[slot].id != 0)
        return d->process[slot].id;
    id = id_of(d, pid);
    return id == 0 && d->watcher.process_elsewhere
               ? d->watcher.process_elsewhere(d->watcher.with, pid)
               : id;
}

/* The first program is STARTED; others that begin without fork() come from exec. */
static uint32_t how_of(const struct sfb_recorder_drain *d, uint32_t how, uint32_t pid)
{
    if (how == SFB_PROCESS_FORKED)
        return how;
    return d->first_pid == 0 || (d->first_pid == pid && !d->first_began) ? SFB_PROCESS_STARTED
                                                                         : SFB_PROCESS_EXECUTED;
}

/* Zeroes a slot, and frees its pages if possible. */
static void clear(const struct sfb_recorder_drain *d, uint32_t slot)
{
    struct sfb_shared_process *shared = &d->processes[slot];
    const size_t rest = offsetof(struct sfb_shared_process, known);
    const off_t at = (off_t)(SFB_SHARED_PROCESSES_AT + slot * sizeof *shared + rest);

    if (d->fd < 0 || fallocate(d->fd, FALLOC_FL_PUNCH_HOLE | FALLOC_FL_KEEP_SIZE, at,
                               (off_t)(sizeof *shared - rest)) != 0)
        memset((uint8_t *)shared + rest, 0, sizeof *shared - rest);
    memset((uint8_t *)shared + sizeof shared->state, 0, rest - sizeof shared->state);
    __atomic_store_n(&shared->state, SFB_SLOT_FREE, __ATOMIC_RELEASE);
    sfb_recorder_slot_freed(&d->shared->free_process, slot);
}

/* Other numbers mean "none" or a group in system calls, and no agent writes them. */
static bool is_pid(uint32_t pid)
{
    return pid != 0 && pid <= PID_MOST;
}

/* Of the program before an exec: what the next one had used when its agent came, less what is recorded of that. */
static uint64_t cpu_before(const struct sfb_recorder_drain *d, uint32_t before, uint64_t cpu_start)
{
    const uint64_t weight =
        d->watcher.executed_weight ? d->watcher.executed_weight(d->watcher.with, before) : 0;

    return cpu_start > weight ? cpu_start - weight : 0;
}

/*
 * Since this look at the slots began. The program before it in its process may have had an agent, too, in a slot that was
 * not looked at: both are begun at the next look, in their order. Clocks of other namespaces may be far ahead.
 */
static bool has_just_come(const struct sfb_recorder_drain *d, uint64_t start)
{
    return !d->finishing && start > d->now && start - d->now < just_ns;
}

static bool may_begin(const struct sfb_recorder_drain *d, const struct sfb_shared_process *shared)
{
    const uint32_t state = ACQUIRE(shared->state);

    return (state == SFB_SLOT_LIVE || state == SFB_SLOT_ENDED) &&
           !has_just_come(d, LOAD(shared->start));
}

/* CPU time at the beginning of a pause, of a process that begins in one; 0: it does not */
static uint64_t pause_at(const struct sfb_recorder_drain *d, uint64_t cpu_start)
{
    if (!d->paused)
        return 0;
    return cpu_start > 0 ? cpu_start : 1;
}

void sfb_recorder_process_begin(struct sfb_recorder_drain *d, uint32_t slot)
{
    const struct sfb_shared_process *shared = &d->processes[slot];
    const bool begins = may_begin(d, shared);
    const uint32_t pid = LOAD(shared->pid);
    uint64_t start;
    struct sfb_recorder_process *own = &d->process[slot];
    struct text text;
    uint32_t before, parent, continued;
    bool good;

    if (!begins)
        return;
    if (!is_pid(pid)) {
        sfb_recorder_lost(d, 0, 0, SFB_LOSS_BAD_RING, 1, "a process has an impossible number");
        clear(d, slot);
        return;
    }
    /* Its agent took the slot before the session was closed to it. */
    if (d->no_children && how_of(d, LOAD(shared->how), pid) != SFB_PROCESS_STARTED)
        return;
    if (d->watcher.catch_up)
        d->watcher.catch_up(d->watcher.with, LOAD(shared->start));
    parent = parent_of(d, shared);
    before = before_of(d, slot, pid);
    if (before < SFB_SHARED_PROCESS_MAX) {
        d->process[before].gone = true;
        d->process[before].end = SFB_PROCESS_REPLACED;
        d->process[before].gone_cpu = cpu_before(d, before, LOAD(shared->cpu_start));
        sfb_recorder_process_end(d, before);
    }
    *own = (struct sfb_recorder_process){ .id = UINT32_MAX, /* until it has one */
                                          .pid = pid,
                                          .parent_pid = LOAD(shared->parent_pid),
                                          .end = SFB_PROCESS_GONE,
                                          .cpu_start = LOAD(shared->cpu_start) };
    own->pause_cpu = pause_at(d, own->cpu_start);
    if (d->watcher.process_began)
        own->watched = d->watcher.process_began(d->watcher.with, slot, pid);
    continued = d->watcher.process_continued
                    ? d->watcher.process_continued(d->watcher.with, slot, &own->cpu_elsewhere)
                    : 0;
    own->id = continued != 0 ? continued : ++d->ids->process;
    if (d->watcher.process_named)
        d->watcher.process_named(d->watcher.with, slot, own->id);
    if (d->watcher.process_clock)
        own->clock_ahead = d->watcher.process_clock(d->watcher.with, slot);
    start = sfb_recorder_time(d, slot, LOAD(shared->start));
    good = copy_text(&text, shared);
    const struct sfb_recording_process process = {
        .id = own->id,
        .parent = parent,
        .pid = pid,
        .parent_pid = own->parent_pid,
        .how = how_of(d, LOAD(shared->how), pid),
        .time = start >= d->begun && start <= d->now ? start : d->now,
        .cpu_ns = own->cpu_start,
        .program = text.bytes,
        .arguments = text.arguments,
        .arguments_size = text.arguments_size,
    };
    if (continued == 0)
        sfb_recorder_put(d, sfb_recording_put_process(d->writer, &process));
    /* Else that time belongs to the previous process, or the parent. */
    if (before == SFB_SHARED_PROCESS_MAX && process.how != SFB_PROCESS_FORKED && !d->paused &&
        sfb_recorder_is_process_cpu(d, own->cpu_start)) {
        if (d->elsewhere && own->cpu_start > own->cpu_elsewhere)
            own->cpu_unseen = own->cpu_start - own->cpu_elsewhere;
        else if (!d->elsewhere)
            sfb_recorder_programs_add(&d->unrecorded.loading, text.bytes, own->cpu_start);
    }
    if (!good)
        sfb_recorder_lost(d, own->id, 0, SFB_LOSS_BAD_RING, 1, "a program's name has no end");
    if (d->heap_calls && !d->heap_calls->process_begin(d, slot, process.time)) {
        own->id = 0;
        sfb_recorder_put(d, SFB_NO_RESOURCE);
        return;
    }
    d->first_began |= pid == d->first_pid;
    d->totals.processes += continued == 0;
    d->totals.processes_live++;
    sfb_recorder_modules_take(d, slot);
}

/* --- its end ------------------------------------------------------------------------------------- */

/*
 * @return CPU time used since its recording began; 0: unknown. Its agent's report comes first: it is of the instant of
 *         the last sample.
 */
static uint64_t cpu_of(const struct sfb_recorder_drain *d, uint32_t slot)
{
    const struct sfb_recorder_process *own = &d->process[slot];
    const struct sfb_shared_process *shared = &d->processes[slot];
    uint64_t total = own->gone_cpu;

    if (LOAD(shared->end) != 0)
        total = LOAD(shared->cpu_end);
    else if (total == 0 &&
             (!d->watcher.process_cpu || !d->watcher.process_cpu(d->watcher.with, slot, &total)))
        return 0;
    return total > own->cpu_start && sfb_recorder_is_process_cpu(d, total - own->cpu_start)
               ? total - own->cpu_start
               : 0;
}

/*
 * What no thread has accounted for, and was used in a pause. The rest of the rest is missed.
 *
 * @param rest  what no thread has accounted for
 */
static uint64_t paused_of(const struct sfb_recorder_drain *d,
                          const struct sfb_recorder_process *own, uint64_t rest)
{
    const uint64_t at = own->cpu_start + own->cpu;
    uint64_t all = own->in_pauses;

    if (d->paused && own->pause_cpu == 0)
        return rest; /* when the pause began is not known */
    if (d->paused && at > own->pause_cpu)
        all += at - own->pause_cpu;
    all -= all < own->paused ? all : own->paused;
    return all < rest ? all : rest;
}

void sfb_recorder_process_end(struct sfb_recorder_drain *d, uint32_t slot)
{
    struct sfb_recorder_process *own = &d->process[slot];
    struct sfb_shared_process *shared = &d->processes[slot];
    const uint64_t time = sfb_recorder_time(d, slot, LOAD(shared->end));
    uint64_t rest, paused;

    own->cpu = cpu_of(d, slot);
    if (d->watcher.process_ends)
        d->watcher.process_ends(d->watcher.with, slot, own->pid, own->id);
    if (!d->failed)
        sfb_recorder_rings_begin(d, true); /* a thread may have come and gone since the last look */
    if (d->heap_calls)
        d->heap_calls->read_last(d, slot);
    else
        sfb_recorder_rings_read(d, slot);
    for (uint32_t i = 0; i < d->ring_end; i++)
        if (d->ring[i].id != 0 && d->ring[i].process == slot)
            sfb_recorder_ring_end(d, i);
        else if (d->ring[i].id == 0)
            sfb_recorder_ring_unclaim(d, i, slot, own->pid);
    sfb_recorder_modules_take(d, slot);
    sfb_recorder_losses(d, shared->lost, own->lost, own->id, 0);
    if (own->cpu == 0 && !own->threads_unknown)
        own->cpu = own->threads_cpu;
    /* The clock was read some milliseconds before its end. */
    if (own->cpu != 0 && own->cpu < own->accounted)
        own->cpu = own->accounted;
    rest = own->cpu > own->accounted && !d->heap_calls ? own->cpu - own->accounted : 0;
    paused = paused_of(d, own, rest);
    own->paused += paused;
    rest -= paused;
    own->cpu -= own->paused < own->cpu ? own->paused : own->cpu;
    d->totals.cpu += own->cpu + own->cpu_unseen;
    if (own->end == SFB_PROCESS_LEFT)
        d->totals.cpu_left += own->cpu;
    const struct sfb_recording_process_end end = {
        .id = own->id,
        .end = own->end,
        .status = own->status,
        .time = time >= d->begun && time <= d->now ? time : d->now,
        .cpu_ns = own->cpu != 0 ? own->cpu + own->cpu_elsewhere + own->cpu_unseen : 0,
        .unsampled_ns = rest + own->cpu_unseen,
    };

    if (d->heap_calls)
        d->heap_calls->process_end(d, slot, end.time);
    sfb_recorder_put(d, sfb_recording_put_process_end(d->writer, &end));
    sfb_recording_forget_stacks(d->writer, own->id);
    sfb_recorder_dictionary_free(&own->stacks);
    sfb_recorder_codes_free(&own->codes, &d->codes_kept);
    own->id = 0;
    d->totals.processes_live--;
    clear(d, slot);
}
