/*
 * Bytes from anywhere as what two threads of a program have written to their rings: the recording is whole, and no
 * block in it is freed that does not live.
 *
 * The first byte says how often rings are read meanwhile; the rest is dealt out in pieces of 64 bytes.
 */
#include "fuzz.h"

#include <stdbool.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#include "recorder/drain.h"
#include "recorder/heap_drain.h"
#include "recorder/shared.h"
#include "sfb/recording.h"

enum { RINGS = 2, PIECE = 64, SITES = 4096 };

static struct sfb_shared *shared;

static struct sfb_shared_ring *ring_at(uint32_t slot)
{
    return sfb_shared_ring(shared, SFB_SHARED_HEAP_RING, slot);
}

static void make_memory(uint8_t first)
{
    uint8_t *memory;
    struct sfb_shared_process *process;

    if (!shared) {
        memory = mmap(NULL, sfb_shared_size(SFB_SHARED_HEAP_RING), PROT_READ | PROT_WRITE,
                      MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
        FUZZ_CHECK(memory != MAP_FAILED);
        shared = (struct sfb_shared *)(void *)memory;
    }
    memset(shared, 0, sizeof *shared);
    process = (struct sfb_shared_process *)(void *)((uint8_t *)shared + SFB_SHARED_PROCESSES_AT);
    memset(process, 0, offsetof(struct sfb_shared_process, known));
    shared->mode = SFB_SHARED_HEAP;
    shared->ring_bytes = SFB_SHARED_HEAP_RING;
    shared->heap_rate = first & 8 ? 512 : 0;
    process->pid = 1;
    process->state = SFB_SLOT_LIVE;
    for (uint32_t i = 0; i < RINGS; i++) {
        memset(ring_at(i), 0, sizeof(struct sfb_shared_ring));
        ring_at(i)->pid = ring_at(i)->tid = 1;
        ring_at(i)->state = SFB_SLOT_LIVE;
    }
    shared->wake = 1;
}

static void append(uint32_t slot, const uint8_t *data, size_t size)
{
    struct sfb_shared_ring *ring = ring_at(slot);
    const size_t whole = size & ~(size_t)7;

    if (ring->head - ring->tail + whole > SFB_SHARED_HEAP_RING)
        return;
    for (size_t i = 0; i < whole; i++)
        ring->data[(ring->head + i) % SFB_SHARED_HEAP_RING] = data[i];
    ring->head += whole;
}

/* Sums of live blocks by site and size, folded: what is freed was allocated. */
static void check(int file)
{
    static int64_t live[SITES];
    struct sfb_recording_reader *reader = NULL;
    struct sfb_recording_health health;
    struct sfb_recording_event event;
    char path[64];

    memset(live, 0, sizeof live);
    snprintf(path, sizeof path, "/proc/self/fd/%d", file);
    FUZZ_CHECK(sfb_recording_reader_open(&reader, path, NULL) == SFB_OK);
    while (sfb_recording_reader_next(reader, &event) == SFB_OK) {
        const struct sfb_recording_heap_event *e = &event.of.heap_event;

        if (event.kind != SFB_EVENT_HEAP_EVENT)
            continue;
        live[(e->site * 31 + e->size) % SITES] += e->freed ? -1 : 1;
        FUZZ_CHECK(live[(e->site * 31 + e->size) % SITES] >= 0);
    }
    sfb_recording_reader_health(reader, &health);
    FUZZ_CHECK(health.finished && health.bad_blocks == 0 && health.bad_records == 0);
    sfb_recording_reader_close(reader);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    static const struct sfb_recording_start start = {
        .engine_text = "", .version = "", .host = "", .command = ""
    };
    struct sfb_recorder_drain_options options = { .fd = -1, .heap = &sfb_recorder_heap_drain };
    struct sfb_recording_writer *writer = NULL;
    struct sfb_recorder_drain *drain = NULL;
    const int file = memfd_create("recording", MFD_CLOEXEC);
    const uint8_t first = size > 0 ? data[0] : 0;
    const size_t every = (first & 7) + 1u;

    make_memory(first);
    FUZZ_CHECK(file >= 0 && sfb_recording_writer_open(&writer, file, &start, NULL) == SFB_OK);
    options.shared = shared;
    options.writer = writer;
    FUZZ_CHECK(sfb_recorder_drain_open(&drain, &options) == SFB_OK);
    for (size_t at = 1, piece = 0; at < size; at += PIECE, piece++) {
        append((uint32_t)(piece % RINGS), data + at, size - at < PIECE ? size - at : PIECE);
        if (piece % every == 0)
            FUZZ_CHECK(sfb_recorder_drain(drain) == SFB_OK);
    }
    sfb_recorder_drain_finish(drain);
    sfb_recorder_drain_close(drain);
    FUZZ_CHECK(sfb_recording_writer_close(writer, 1, "x") == SFB_OK);
    check(file);
    close(file);
    return 0;
}
