/*
 * Bytes from anywhere as what a program of two processes, each with a thread, has written to its shared memory while its
 * CPU time is recorded: records, headers of rings and processes, and lists of modules. The recording is whole.
 *
 * The first byte says how often rings are read meanwhile; the rest is dealt out in pieces of 64 bytes: most are records of
 * one ring or the other, each eighth is written over a header.
 */
#include "fuzz/fuzz.h"

#include <stdbool.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#include "fuzz/mutate.h"
#include "profiler/collector/rings/drain.h"
#include "profiler/protocol/shared.h"
#include "sfb/recording.h"

enum { PROCESSES = 2, RINGS = 2, PIECE = 64, OTHER = 8 };

static struct sfb_shared *shared;

static struct sfb_shared_ring *ring_at(uint32_t slot)
{
    return sfb_shared_ring(shared, SFB_SHARED_CPU_RING, slot);
}

static struct sfb_shared_process *process_at(uint32_t slot)
{
    uint8_t *first = (uint8_t *)shared + SFB_SHARED_PROCESSES_AT;

    return (struct sfb_shared_process *)(void *)first + slot;
}

static void make_memory(void)
{
    if (!shared) {
        void *memory = mmap(NULL, sfb_shared_size(SFB_SHARED_CPU_RING), PROT_READ | PROT_WRITE,
                            MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);

        FUZZ_CHECK(memory != MAP_FAILED);
        shared = memory;
    }
    memset(shared, 0, sizeof *shared);
    shared->mode = SFB_SHARED_CPU;
    shared->ring_bytes = SFB_SHARED_CPU_RING;
    shared->rate_hz = 997;
    for (uint32_t i = 0; i < PROCESSES; i++) {
        memset(process_at(i), 0, offsetof(struct sfb_shared_process, known));
        memset(process_at(i)->modules, 0, SFB_SHARED_PAGE);
        process_at(i)->pid = i + 1;
        memcpy(process_at(i)->text, "/bin/x\0x", 9);
        process_at(i)->text_size = 9;
        process_at(i)->state = SFB_SLOT_LIVE;
    }
    for (uint32_t i = 0; i < RINGS; i++) {
        memset(ring_at(i), 0, sizeof(struct sfb_shared_ring));
        ring_at(i)->process = i;
        ring_at(i)->pid = ring_at(i)->tid = i + 1;
        ring_at(i)->engine = SFB_ENGINE_TIMER;
        ring_at(i)->state = SFB_SLOT_LIVE;
    }
    shared->wake = 1;
}

static void append(uint32_t slot, const uint8_t *data, size_t size)
{
    struct sfb_shared_ring *ring = ring_at(slot);
    const size_t whole = size & ~(size_t)7;

    if (ring->head - ring->tail + whole > SFB_SHARED_CPU_RING)
        return;
    for (size_t i = 0; i < whole; i++)
        ring->data[(ring->head + i) % SFB_SHARED_CPU_RING] = data[i];
    ring->head += whole;
}

/* Anything that the program may write: its first byte says where. */
static void overwrite(const uint8_t *data, size_t size)
{
    const uint32_t slot = data[0] & 1, part = data[0] >> 1 & 3, at = data[0] >> 3;

    switch (part) {
    case 0: memcpy((uint8_t *)process_at(slot) + at % 4 * PIECE, data + 1, size - 1); break;
    case 1: memcpy((uint8_t *)ring_at(slot) + at % 3 * PIECE, data + 1, size - 1); break;
    case 2:
        memcpy(process_at(slot)->modules + (size_t)at * (PIECE - 1), data + 1, size - 1);
        process_at(slot)->modules_size = (uint32_t)(at + 1) * (PIECE - 1);
        process_at(slot)->modules_written++;
        break;
    default: memcpy((uint8_t *)&ring_at(slot)->head, data + 1, size > 8 ? 8 : size - 1); break;
    }
    shared->wake++;
}

static void check(int file)
{
    struct sfb_recording_reader *reader = NULL;
    struct sfb_recording_health health;
    struct sfb_recording_event event;
    char path[64];

    snprintf(path, sizeof path, "/proc/self/fd/%d", file);
    FUZZ_CHECK(sfb_recording_reader_open(&reader, path, NULL) == SFB_OK);
    while (sfb_recording_reader_next(reader, &event) == SFB_OK)
        FUZZ_CHECK(event.kind != SFB_EVENT_LOSSES || event.of.losses.reason < SFB_LOSS_COUNT);
    sfb_recording_reader_health(reader, &health);
    FUZZ_CHECK(health.finished && health.bad_blocks == 0 && health.bad_records == 0);
    sfb_recording_reader_close(reader);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    static const struct sfb_recording_start start = {
        .engine_text = "", .version = "", .host = "", .command = ""
    };
    struct sfb_recorder_drain_options options = { .fd = -1 };
    struct sfb_recording_writer *writer = NULL;
    struct sfb_recorder_drain *drain = NULL;
    const int file = memfd_create("recording", MFD_CLOEXEC);
    const size_t every = (size > 0 ? data[0] & 7u : 0) + 1u;

    make_memory();
    FUZZ_CHECK(file >= 0 && sfb_recording_writer_open(&writer, file, &start, NULL) == SFB_OK);
    options.shared = shared;
    options.writer = writer;
    FUZZ_CHECK(sfb_recorder_drain_open(&drain, &options) == SFB_OK);
    for (size_t at = 1, piece = 0; at < size; at += PIECE, piece++) {
        const size_t part = size - at < PIECE ? size - at : PIECE;

        if (piece % OTHER == OTHER - 1)
            overwrite(data + at, part);
        else
            append((uint32_t)(piece % RINGS), data + at, part);
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
/* A record that fills a piece. */
static void make_record(struct fuzz_random *r, uint8_t *piece)
{
    static const uint8_t cbf[] = { 0x02, 0x24, 0x10, 0x00, 0x00 };
    const struct sfb_shared_name name = { { sizeof name, SFB_RECORD_NAME, 0 }, "a name" };
    struct sfb_shared_sample sample = { .head = { PIECE, SFB_RECORD_SAMPLE, 0 },
                                        .time = fuzz_below(r, 1 << 20),
                                        .weight = fuzz_below(r, 1 << 20),
                                        .hash = fuzz_below(r, 6),
                                        .engine = fuzz_below(r, 6),
                                        .end = fuzz_below(r, 3) == 0 ? fuzz_below(r, 64) : 1,
                                        .modules = fuzz_below(r, 3) };

    memset(piece, 0, PIECE);
    switch (fuzz_below(r, 4)) {
    case 0:
        memcpy(piece, &name, sizeof name);
        fuzz_put64(piece + sizeof name, (PIECE - sizeof name) | (uint64_t)SFB_RECORD_PAD << 32);
        return;
    case 1:
    case 2:
        sample.head.kind = SFB_RECORD_STACK;
        sample.head.cbf_size = sizeof cbf;
        memcpy(piece + sizeof sample, cbf, sizeof cbf);
        piece[sizeof sample + 2] = (uint8_t)fuzz_below(r, 256);
        break;
    default: break;
    }
    memcpy(piece, &sample, sizeof sample);
}

size_t LLVMFuzzerCustomMutator(uint8_t *data, size_t size, size_t max_size, unsigned seed)
{
    struct fuzz_random r = fuzz_random_of(seed);
    uint8_t *piece;

    if (max_size < 1 + PIECE || fuzz_below(&r, 3) == 0)
        return LLVMFuzzerMutate(data, size, max_size);
    for (uint32_t n = fuzz_below(&r, 6) + 1; n > 0; n--)
        if ((piece = fuzz_piece(&r, data, &size, max_size, 1, PIECE)) != NULL &&
            (size_t)(piece - data - 1) / PIECE % OTHER != OTHER - 1)
            make_record(&r, piece);
    return fuzz_below(&r, 2) ? LLVMFuzzerMutate(data, size, max_size) : size;
}
#endif
