#include "profiler/tests/heap_drain/made_session.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <time.h>
#include <unistd.h>

#include "profiler/collector/heap/heap_drain.h"
#include "sfb/cbf.h"
#include "support/test.h"

struct sfb_shared *made_shared;
struct sfb_recorder_drain *made_drain;

static struct sfb_recording_writer *writer;
static struct sfb_shared_process *processes;
static uint64_t written[SFB_SHARED_RING_MAX];
static int file;

static uint64_t now(void)
{
    struct timespec t;

    clock_gettime(CLOCK_MONOTONIC, &t);
    return (uint64_t)t.tv_sec * 1000000000 + (uint64_t)t.tv_nsec;
}

void made_session_begin(const struct made_options *o)
{
    const struct sfb_recording_start start = {
        .engine_text = "", .version = "", .host = "", .command = ""
    };
    struct sfb_recording_writer_options options = SFB_RECORDING_WRITER_OPTIONS_INIT;
    struct sfb_recorder_drain_options drain = { .fd = -1,
                                                .first_pid = MADE_PID,
                                                .heap = &sfb_recorder_heap_drain,
                                                .aggregate = o->aggregate,
                                                .snapshot_ns = o->snapshot_ns,
                                                .temporary_within = o->temporary_within,
                                                .own_thread = o->own_thread };
    uint8_t *memory = mmap(NULL, sfb_shared_size(SFB_SHARED_HEAP_RING), PROT_READ | PROT_WRITE,
                           MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);

    file = memfd_create("recording", 0);
    cr_assert(file >= 0 && memory != MAP_FAILED);
    memset(written, 0, sizeof written);
    made_shared = (struct sfb_shared *)(void *)memory;
    processes = (struct sfb_shared_process *)(void *)(memory + SFB_SHARED_PROCESSES_AT);
    made_shared->mode = SFB_SHARED_HEAP;
    made_shared->ring_bytes = SFB_SHARED_HEAP_RING;
    made_shared->heap_rate = o->rate;
    made_shared->counter_start = now() - 2000000000;
    options.packer = &sfb_recording_zstd;
    options.max_size = o->max_size;
    cr_assert_eq(sfb_recording_writer_open(&writer, file, &start, &options), SFB_OK);
    drain.shared = made_shared;
    drain.writer = writer;
    cr_assert_eq(sfb_recorder_drain_open(&made_drain, &drain), SFB_OK);
}

uint64_t made_now(void)
{
    return now() - made_shared->counter_start;
}

struct sfb_shared_ring *made_ring(uint32_t ring)
{
    return sfb_shared_ring(made_shared, SFB_SHARED_HEAP_RING, ring);
}

void made_process(uint32_t slot)
{
    processes[slot].pid = MADE_PID + slot;
    processes[slot].start = now();
    memcpy(processes[slot].text, "/bin/x\0x\0", 9);
    processes[slot].text_size = 9;
    processes[slot].how = slot == 0 ? SFB_PROCESS_STARTED : SFB_PROCESS_FORKED;
    processes[slot].state = SFB_SLOT_LIVE;
    __atomic_fetch_add(&made_shared->wake, 1, __ATOMIC_RELEASE);
}

struct sfb_shared_process *made_shared_process(uint32_t slot)
{
    return &processes[slot];
}

void made_thread(uint32_t slot, uint32_t process)
{
    struct sfb_shared_ring *ring = made_ring(slot);

    ring->process = process;
    ring->pid = MADE_PID + process;
    ring->tid = MADE_PID + slot;
    ring->start = now();
    written[slot] = 0;
    __atomic_store_n(&ring->state, SFB_SLOT_LIVE, __ATOMIC_RELEASE);
    __atomic_fetch_add(&made_shared->wake, 1, __ATOMIC_RELEASE);
}

void made_thread_ends(uint32_t ring)
{
    made_ring(ring)->end = now();
    __atomic_store_n(&made_ring(ring)->state, SFB_SLOT_ENDED, __ATOMIC_RELEASE);
}

uint64_t made_room(uint32_t ring)
{
    return SFB_SHARED_HEAP_RING - (written[ring] - made_ring(ring)->tail);
}

void made_record(uint32_t ring, uint64_t time, uint32_t kind, const uint64_t *words, size_t count)
{
    const size_t size = 8 * (count + 1);
    const uint64_t first = time << SFB_HEAP_KIND_BITS | kind, pad = SFB_HEAP_PAD;
    size_t at = (size_t)(written[ring] % SFB_SHARED_HEAP_RING);

    if (at + size > SFB_SHARED_HEAP_RING) {
        memcpy(made_ring(ring)->data + at, &pad, sizeof pad);
        written[ring] += SFB_SHARED_HEAP_RING - at;
        at = 0;
    }
    cr_assert(made_room(ring) >= size);
    memcpy(made_ring(ring)->data + at, &first, sizeof first);
    memcpy(made_ring(ring)->data + at + 8, words, size - 8);
    written[ring] += size;
}

void made_publish(uint32_t ring)
{
    __atomic_store_n(&made_ring(ring)->head, written[ring], __ATOMIC_RELEASE);
}

enum { CALLS_MAX = 1024 };

/* One frame for each hash. */
void made_stack_with_calls(uint32_t ring, uint64_t time, uint64_t hash,
                           const struct sfb_shared_call *calls, size_t count)
{
    uint64_t words[4 + 2 * CALLS_MAX] = { hash };
    struct sfb_cbf_encoder encoder;
    size_t used;

    sfb_cbf_encoder_init(&encoder, (uint8_t *)&words[2], 16, 8 * sizeof(void *));
    sfb_cbf_encoder_put(&encoder, SFB_FRAME_PC, 0x1000 + hash);
    words[1] = sfb_cbf_encoder_end(&encoder, false) | count << SFB_HEAP_CALLS_SHIFT |
               (uint64_t)SFB_END << SFB_HEAP_END_SHIFT;
    used = 2 + ((words[1] & 0xff) + 7) / 8;
    for (size_t i = 0; i < count; i++, used += 2)
        memcpy(words + used, &calls[i], sizeof *calls);
    made_record(ring, time, SFB_HEAP_STACK, words, used);
    made_publish(ring);
}

void made_stack_record(uint32_t ring, uint64_t time, uint64_t hash)
{
    made_stack_with_calls(ring, time, hash, NULL, 0);
}

void made_alloc(uint32_t ring, uint64_t time, uint64_t pointer, uint64_t size, uint64_t hash)
{
    made_record(ring, time, SFB_HEAP_ALLOC, (const uint64_t[]){ pointer, size, hash }, 3);
    made_publish(ring);
}

void made_free(uint32_t ring, uint64_t time, uint64_t pointer)
{
    made_record(ring, time, SFB_HEAP_FREE, &pointer, 1);
    made_publish(ring);
}

/* --- what is in the file ---------------------------------------------------------------------- */

static void take(struct made_heap *h, const struct sfb_recording_event *e)
{
    switch (e->kind) {
    case SFB_EVENT_HEAP:
        h->heap = e->of.heap;
        h->heaps++;
        return;
    case SFB_EVENT_STACK: h->stacks++; return;
    case SFB_EVENT_HEAP_SITE:
        cr_assert(e->of.heap_site.id < MADE_SITES);
        h->site[e->of.heap_site.id] = e->of.heap_site;
        h->sites++;
        return;
    case SFB_EVENT_HEAP_TOTALS:
        h->totals[e->of.heap_totals.site] = e->of.heap_totals;
        h->totals_count++;
        return;
    case SFB_EVENT_HEAP_STATE:
        cr_assert(h->states == 0 || e->of.heap_state.process != h->state.process ||
                  e->of.heap_state.time >= h->state.time);
        h->state = e->of.heap_state;
        h->states++;
        return;
    case SFB_EVENT_HEAP_EVENT:
        cr_assert(h->event_count < MADE_EVENTS);
        h->events[h->event_count++] = e->of.heap_event;
        return;
    case SFB_EVENT_LOSSES:
        h->lost[e->of.losses.reason] += e->of.losses.count;
        h->loss_records++;
        strncpy(h->why, e->of.losses.text, sizeof h->why - 1);
        return;
    default: return;
    }
}

struct made_heap *made_session_end(void)
{
    struct made_heap *h = calloc(1, sizeof *h);
    struct sfb_recording_reader *reader;
    struct sfb_recording_event event;
    char path[64];

    cr_assert_not_null(h);
    sfb_recorder_drain_finish(made_drain);
    sfb_recorder_drain_close(made_drain);
    sfb_recording_writer_close(writer, now(), "test");
    snprintf(path, sizeof path, "/proc/self/fd/%d", file);
    cr_assert_eq(sfb_recording_reader_open(&reader, path, NULL), SFB_OK);
    while (sfb_recording_reader_next(reader, &event) == SFB_OK)
        take(h, &event);
    sfb_recording_reader_health(reader, &h->health);
    sfb_recording_reader_close(reader);
    cr_expect(h->health.finished && h->health.bad_blocks == 0 && h->health.bad_records == 0);
    munmap(made_shared, sfb_shared_size(SFB_SHARED_HEAP_RING));
    close(file);
    return h;
}

struct made_sums made_sums_of(const struct made_heap *h)
{
    struct made_sums s = { 0 };

    for (uint32_t i = 1; i <= h->sites; i++) {
        const struct sfb_recording_heap_totals *t = &h->totals[i];

        cr_expect(t->site == i, "site %u has no sums", i);
        s.allocated += t->allocated.blocks;
        s.allocated_bytes += t->allocated.bytes;
        s.live += t->live.blocks;
        s.live_bytes += t->live.bytes;
        s.peak += t->peak.blocks;
        s.peak_bytes += t->peak.bytes;
        s.temporary += t->temporary.blocks;
        s.elsewhere += t->freed_elsewhere;
        s.reallocated += t->reallocated;
    }
    return s;
}

enum { PAIRS = 1 << 16 };

static uint64_t *live_of(const struct sfb_recording_heap_event *e)
{
    static struct {
        uint64_t size, live;
        uint32_t site;
    } pairs[PAIRS];
    size_t at = (size_t)((e->size * 31 + e->site) * UINT64_C(0x9e3779b97f4a7c15) >> 48);

    if (e->site == 0) {
        memset(pairs, 0, sizeof pairs);
        return NULL;
    }
    while (pairs[at].site != 0 && (pairs[at].site != e->site || pairs[at].size != e->size))
        at = (at + 1) % PAIRS;
    pairs[at].site = e->site;
    pairs[at].size = e->size;
    return &pairs[at].live;
}

void made_replay(const struct made_heap *h)
{
    static uint64_t live[MADE_SITES], peak[MADE_SITES], allocated[MADE_SITES];
    uint64_t total = 0, most = 0, time = 0;

    memset(live, 0, sizeof live);
    memset(peak, 0, sizeof peak);
    memset(allocated, 0, sizeof allocated);
    live_of(&(struct sfb_recording_heap_event){ 0 });
    for (uint64_t i = 0; i < h->event_count; i++) {
        const struct sfb_recording_heap_event *e = &h->events[i];
        uint64_t *pair = live_of(e);

        cr_assert(e->time >= time);
        time = e->time;
        cr_assert(pair[0] > 0 || !e->freed, "event %zu frees what does not live", (size_t)i);
        *pair += e->freed ? UINT64_MAX : 1;
        live[e->site] += e->freed ? 0 - e->size : e->size;
        total += e->freed ? 0 - e->size : e->size;
        allocated[e->site] += !e->freed;
        if (total > most) {
            most = total;
            memcpy(peak, live, sizeof peak);
        }
    }
    cr_expect(h->state.live.bytes == total && h->state.peak.bytes == most,
              "live %zu of %zu, peak %zu of %zu", (size_t)h->state.live.bytes, (size_t)total,
              (size_t)h->state.peak.bytes, (size_t)most);
    for (uint32_t i = 1; i <= h->sites; i++)
        cr_expect(h->totals[i].live.bytes == live[i] && h->totals[i].peak.bytes == peak[i] &&
                      h->totals[i].allocated.blocks == allocated[i],
                  "site %u", i);
}
