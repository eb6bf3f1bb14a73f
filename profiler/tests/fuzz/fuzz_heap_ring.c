/*
 * Bytes from anywhere as what two threads of a program have written to their rings: the recording is whole, and no
 * block in it is freed that does not live.
 *
 * The first byte says how often rings are read meanwhile; the rest is dealt out in pieces of 64 bytes.
 */
#include "fuzz/fuzz.h"

#include <stdbool.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#include "fuzz/mutate.h"
#include "profiler/collector/heap/heap_drain.h"
#include "profiler/collector/rings/drain.h"
#include "profiler/protocol/shared.h"
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

#ifdef FUZZING_BUILD_MODE_UNSAFE_FOR_PRODUCTION
/* Words of a record behind its first. Blocks, sizes and stacks are few: one record is about what another one said. */
static size_t make_record(struct fuzz_random *r, uint8_t *at, size_t left)
{
    static const uint8_t words[] = {
        [SFB_HEAP_PAD] = 0,           [SFB_HEAP_STACK] = 3,      [SFB_HEAP_ALLOC] = 3,
        [SFB_HEAP_ALLOC_REALLOC] = 3, [SFB_HEAP_ALLOC_MMAP] = 3, [SFB_HEAP_FREE] = 1,
        [SFB_HEAP_FREE_REALLOC] = 1,  [SFB_HEAP_FREE_MMAP] = 2,  [SFB_HEAP_REALLOC_FAILED] = 1,
        [SFB_HEAP_NAME] = 2
    };
    static const uint8_t cbf[8] = { 0x02, 0x24, 0x10, 0x00, 0x00 };
    const uint32_t kind = fuzz_below(r, 9) + SFB_HEAP_STACK;
    const size_t size = 8 * (1 + (size_t)words[kind]);
    const uint64_t pointer = 0x1000 * (1 + (uint64_t)fuzz_below(r, 12)),
                   bytes = 0x1000 * (uint64_t)fuzz_below(r, 5) + fuzz_below(r, 3) * 24;

    if (size > left)
        return 0;
    fuzz_put64(at, (uint64_t)fuzz_below(r, 4096) << SFB_HEAP_KIND_BITS | kind);
    if (kind == SFB_HEAP_STACK) {
        fuzz_put64(at + 8, 1 + fuzz_below(r, 5));
        fuzz_put64(at + 16, 5 | UINT64_C(1) << SFB_HEAP_END_SHIFT |
                                (uint64_t)fuzz_below(r, 3) << SFB_HEAP_MODULES_SHIFT);
        memcpy(at + 24, cbf, sizeof cbf);
        return size;
    }
    if (words[kind] > 0)
        fuzz_put64(at + 8, pointer);
    if (words[kind] > 1)
        fuzz_put64(at + 16, bytes | (uint64_t)fuzz_below(r, 3) << SFB_HEAP_SLACK_SHIFT);
    if (words[kind] > 2)
        fuzz_put64(at + 24, fuzz_below(r, 6));
    return size;
}

size_t LLVMFuzzerCustomMutator(uint8_t *data, size_t size, size_t max_size, unsigned seed)
{
    struct fuzz_random r = fuzz_random_of(seed);

    if (max_size < 1 + PIECE || fuzz_below(&r, 3) == 0)
        return LLVMFuzzerMutate(data, size, max_size);
    for (uint32_t n = fuzz_below(&r, 6) + 1; n > 0; n--) {
        uint8_t *piece = fuzz_piece(&r, data, &size, max_size, 1, PIECE);

        for (size_t at = 0, made = 1; piece && made > 0 && at < PIECE; at += made)
            made = make_record(&r, piece + at, PIECE - at);
    }
    return fuzz_below(&r, 2) ? LLVMFuzzerMutate(data, size, max_size) : size;
}
#endif
