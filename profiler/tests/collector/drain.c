/* The drain, with memory that the test writes: no agent, no process. */
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

#include "cli/tests/record_tool/contents.h"
#include "profiler/collector/processes/environment.h"
#include "profiler/collector/rings/drain.h"
#include "profiler/collector/rings/slots.h"
#include "sfb/cbf.h"
#include "support/folder.h"
#include "support/test.h"

TestSuite(record_drain, .init = folder_enter, .fini = folder_remove);

enum { PID = 4711 };

static struct sfb_shared *shared;
static struct sfb_shared_process *processes;
static struct sfb_recording_writer *writer;
static struct sfb_recorder_drain *drain;
static struct sfb_recorder_watcher watcher; /* of the next begin() */
static struct sfb_recorder_ids *ids;        /* the same; NULL: the drain's own */
static int memory_fd = -1;                  /* the same: what it maps; -1: no file */

static struct sfb_shared_ring *ring_at(uint32_t slot)
{
    return sfb_shared_ring(shared, SFB_SHARED_CPU_RING, slot);
}

static uint64_t now(void)
{
    struct timespec t;

    clock_gettime(CLOCK_MONOTONIC, &t);
    return (uint64_t)t.tv_sec * 1000000000 + (uint64_t)t.tv_nsec;
}

static void begin(void)
{
    const struct sfb_recording_start start = {
        .engine_text = "", .version = "", .host = "", .command = ""
    };
    struct sfb_recorder_drain_options options = { .fd = memory_fd, .first_pid = PID };
    const int flags = memory_fd < 0 ? MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE : MAP_SHARED;
    uint8_t *memory;
    int fd;

    fd = open("it.sfbr", O_RDWR | O_CREAT | O_TRUNC | O_CLOEXEC, 0600);
    memory = mmap(NULL, sfb_shared_size(SFB_SHARED_CPU_RING), PROT_READ | PROT_WRITE, flags,
                  memory_fd, 0);
    cr_assert(fd >= 0 && memory != MAP_FAILED);
    shared = (struct sfb_shared *)(void *)memory;
    processes = (struct sfb_shared_process *)(void *)(memory + SFB_SHARED_PROCESSES_AT);
    shared->mode = SFB_SHARED_CPU;
    shared->ring_bytes = SFB_SHARED_CPU_RING;
    cr_assert_eq(sfb_recording_writer_open(&writer, fd, &start, NULL), SFB_OK);
    options.shared = shared;
    options.writer = writer;
    options.watcher = watcher;
    options.ids = ids;
    cr_assert_eq(sfb_recorder_drain_open(&drain, &options), SFB_OK);
}

static struct contents *end(void)
{
    struct contents *contents;

    sfb_recorder_drain_finish(drain);
    sfb_recorder_drain_close(drain);
    cr_assert_eq(sfb_recording_writer_close(writer, now(), "test"), SFB_OK);
    cr_assert(contents_read(&contents, "it.sfbr") == NULL);
    cr_expect(contents->health.finished && contents->health.bad_blocks == 0 &&
              contents->health.bad_records == 0);
    munmap(shared, sfb_shared_size(SFB_SHARED_CPU_RING));
    return contents;
}

static void wake(void)
{
    __atomic_fetch_add(&shared->wake, 1, __ATOMIC_RELEASE);
}

static void add_process(uint32_t slot)
{
    processes[slot].pid = PID + slot;
    processes[slot].start = now();
    memcpy(processes[slot].text, "/bin/x\0x\0", 9);
    processes[slot].text_size = 9;
    processes[slot].state = SFB_SLOT_LIVE;
    wake();
}

static void add_ring(uint32_t slot, uint32_t process)
{
    ring_at(slot)->process = process;
    ring_at(slot)->pid = PID + process;
    ring_at(slot)->tid = PID + slot;
    ring_at(slot)->start = now();
    ring_at(slot)->engine = SFB_ENGINE_TIMER;
    ring_at(slot)->state = SFB_SLOT_LIVE;
    wake();
}

static void put(uint32_t slot, const void *record, size_t size)
{
    memcpy(ring_at(slot)->data + ring_at(slot)->head % SFB_SHARED_CPU_RING, record, size);
    __atomic_store_n(&ring_at(slot)->head, ring_at(slot)->head + size, __ATOMIC_RELEASE);
}

/* A stack of one frame for each hash. */
struct stack {
    struct sfb_shared_sample sample;
    uint8_t cbf[16];
};

static struct stack stack_of(uint64_t hash)
{
    struct stack record = { .sample = { .time = now(),
                                        .weight = 1000,
                                        .hash = hash,
                                        .engine = SFB_ENGINE_TIMER,
                                        .end = SFB_END } };
    struct sfb_cbf_encoder encoder;

    sfb_cbf_encoder_init(&encoder, record.cbf, sizeof record.cbf, 8 * sizeof(void *));
    sfb_cbf_encoder_put(&encoder, SFB_FRAME_PC, 0x1000 + hash);
    record.sample.head.cbf_size = (uint16_t)sfb_cbf_encoder_end(&encoder, false);
    record.sample.head.size = sizeof record;
    record.sample.head.kind = SFB_RECORD_STACK;
    return record;
}

static void put_stack(uint32_t slot, uint64_t hash)
{
    const struct stack record = stack_of(hash);

    put(slot, &record, sizeof record);
}

static void put_sample(uint32_t slot, uint64_t hash)
{
    struct sfb_shared_sample sample = stack_of(hash).sample;

    sample.head.kind = SFB_RECORD_SAMPLE;
    sample.head.size = sizeof sample;
    sample.head.cbf_size = 0;
    put(slot, &sample, sizeof sample);
}

/* A look at a page of the file makes memory of it: 6 MiB, were all slots looked at. */
Test(record_drain, leaves_slots_alone_that_nobody_has)
{
    enum { RINGS = 3, MOST = 512 };
    struct contents *c;
    struct stat file;

    memory_fd = memfd_create("drain", MFD_CLOEXEC);
    cr_assert(memory_fd >= 0 &&
              ftruncate(memory_fd, (off_t)sfb_shared_size(SFB_SHARED_CPU_RING)) == 0);
    begin();
    add_process(2);
    for (uint32_t i = 0; i < RINGS; i++)
        add_ring(20 * i, 2);
    cr_expect_eq(sfb_recorder_drain(drain), SFB_OK);
    for (uint32_t i = 0; i < RINGS; i++)
        put_stack(20 * i, i + 1);
    c = end();
    cr_expect_eq(c->process_count, 1);
    cr_expect_eq(c->samples, RINGS);
    cr_assert_eq(fstat(memory_fd, &file), 0);
    cr_expect_lt(file.st_blocks / 2, MOST, "%ld KiB", (long)file.st_blocks / 2);
    close(memory_fd);
    free(c);
}

/* What a program says of its losses stands in the first lines of a report. */
Test(record_drain, believes_no_loss_that_cannot_have_been)
{
    struct contents *c;

    begin();
    add_process(0);
    add_ring(0, 0);
    cr_expect_eq(sfb_recorder_drain(drain), SFB_OK);
    ring_at(0)->lost[SFB_LOSS_RING_FULL] = 3;
    processes[0].lost[SFB_LOSS_MODULES] = 3934343880U; /* in a moment: a list takes a system call */
    processes[0].lost[SFB_LOSS_HEAP_EVENTS] = UINT64_MAX;
    c = end();
    cr_expect_eq(c->lost[SFB_LOSS_RING_FULL], 3);
    cr_expect_eq(c->lost[SFB_LOSS_MODULES], 0);
    cr_expect_eq(c->lost[SFB_LOSS_HEAP_EVENTS], 0);
    cr_expect_eq(c->lost[SFB_LOSS_BAD_RING], 2, "%s", c->texts);
    free(c);
}

/* Each stack lies in the next ring, behind a sample that needs the one after that. */
Test(record_drain, finds_stacks_in_other_rings)
{
    for (unsigned gone = 0; gone < 2; gone++) {
        struct contents *c;

        begin();
        add_process(0);
        for (uint32_t i = 0; i < 4; i++) {
            add_ring(i, 0);
            put_sample(i, 10 + i);
            if (i > 0)
                put_stack(i, 9 + i);
        }
        add_ring(4, 0);
        put_stack(4, 13);
        if (gone == 0)
            cr_expect_eq(sfb_recorder_drain(drain), SFB_OK);
        c = end();
        cr_expect_eq(c->samples, 8);
        cr_expect_eq(c->complete, 8, "%u: only %u have their stacks", gone, (unsigned)c->complete);
        cr_expect_eq(c->lost[SFB_LOSS_BAD_RING], 0, "%s", c->texts);
        free(c);
    }
}

/* The thread that has the stack began after slots were looked at. */
Test(record_drain, finds_stacks_of_threads_that_just_began)
{
    struct contents *c;

    begin();
    add_process(0);
    add_ring(0, 0);
    cr_expect_eq(sfb_recorder_drain(drain), SFB_OK);
    add_ring(7, 0);
    __atomic_fetch_sub(&shared->wake, 1, __ATOMIC_RELEASE);
    put_stack(7, 1);
    put_sample(0, 1);
    cr_expect_eq(sfb_recorder_drain(drain), SFB_OK);
    c = end();
    cr_expect_eq(c->complete, 2, "%s", c->texts);
    free(c);
}

Test(record_drain, names_what_is_wrong_with_a_record)
{
    const struct stack good = stack_of(1);
    static const char *const says[] = {
        "impossible size",   "impossible size",   "impossible size",  "unknown kind",
        "too short",         "time or weight",    "time or weight",   "engine or end",
        "cannot be decoded", "cannot be decoded", "that was not sent"
    };

    for (size_t i = 0; i < sizeof says / sizeof *says; i++) {
        struct stack bad = good;
        struct contents *c;

        begin();
        add_process(0);
        add_ring(0, 0);
        bad.sample.time = now();
        switch (i) {
        case 0: bad.sample.head.size = 0; break;
        case 1: bad.sample.head.size = 12; break;
        case 2: bad.sample.head.size = 1 << 20; break;
        case 3: bad.sample.head.kind = 77; break;
        case 4: bad.sample.head.size = 16; break;
        case 5: bad.sample.time += 1000000000000; break;
        case 6: bad.sample.weight = 1000000000000; break;
        case 7: bad.sample.engine = 9; break;
        case 8: bad.sample.head.cbf_size = 60000; break;
        case 9: bad.cbf[1] = 0xff; break;
        default:
            bad.sample.head.kind = SFB_RECORD_SAMPLE;
            bad.sample.hash = 99;
            break;
        }
        put(0, &bad, i == 4 ? 16 : sizeof bad);
        cr_expect_eq(sfb_recorder_drain(drain), SFB_OK);
        cr_expect_eq(ring_at(0)->tail, ring_at(0)->head, "%s: it stays at the record", says[i]);
        put_stack(0, 2); /* what comes behind is read */
        c = end();
        cr_expect_eq(c->lost[SFB_LOSS_BAD_RING], 1, "%s: %s", says[i], c->texts);
        cr_expect(strstr(c->texts, says[i]) != NULL, "%s: %s", says[i], c->texts);
        cr_expect_eq(c->complete, 1, "%s", says[i]);
        free(c);
    }
}

Test(record_drain, skips_positions_that_contradict_each_other)
{
    struct contents *c;

    begin();
    add_process(0);
    add_ring(0, 0);
    ring_at(0)->head = 8 * SFB_SHARED_CPU_RING;
    cr_expect_eq(sfb_recorder_drain(drain), SFB_OK);
    put_stack(0, 1);
    c = end();
    cr_expect_eq(c->lost[SFB_LOSS_BAD_RING], 1, "%s", c->texts);
    cr_expect_eq(c->samples, 1);
    free(c);
}

/* Rest of the thread and of the process: all of the CPU time is somewhere. */
Test(record_drain, accounts_for_what_no_sample_has)
{
    struct contents *c;

    begin();
    add_process(0);
    processes[0].cpu_start = 500;
    add_ring(0, 0);
    ring_at(0)->cpu_start = 100;
    put_stack(0, 1);
    ring_at(0)->cpu_end = 5100;
    ring_at(0)->end = now();
    ring_at(0)->state = SFB_SLOT_ENDED;
    cr_expect_eq(sfb_recorder_drain(drain), SFB_OK);
    cr_expect_eq(ring_at(0)->state, (uint32_t)SFB_SLOT_FREE);
    processes[0].cpu_end = 10500;
    processes[0].end = now();
    processes[0].state = SFB_SLOT_ENDED;
    cr_expect_eq(sfb_recorder_drain(drain), SFB_OK);
    cr_expect_eq(processes[0].state, (uint32_t)SFB_SLOT_FREE);
    c = end();
    cr_expect_eq(c->weight, 1000);
    cr_expect_eq(c->rests, 4000);
    cr_expect_eq(c->unsampled, 5000);
    cr_expect_eq(c->process[0].cpu, 10000);
    free(c);
}

/* What was used in a pause is neither in a sample nor missed. */
Test(record_drain, leaves_out_what_is_used_in_a_pause)
{
    struct contents *c;

    begin();
    add_process(0);
    processes[0].cpu_start = 500;
    add_ring(0, 0);
    ring_at(0)->cpu_start = 100;
    put_stack(0, 1); /* 1,000 ns of 5,000 */
    cr_expect_eq(sfb_recorder_drain(drain), SFB_OK);
    cr_expect_eq(sfb_recorder_drain_pause(drain, true), SFB_OK);
    cr_expect_eq(shared->paused, (uint32_t)SFB_SHARED_PAUSED);
    ring_at(0)->cpu_paused = 3000; /* as its agent says */
    cr_expect_eq(sfb_recorder_drain(drain), SFB_OK);
    cr_expect_eq(sfb_recorder_drain_pause(drain, false), SFB_OK);
    cr_expect_eq(shared->paused, (uint32_t)SFB_SHARED_RUNS);
    ring_at(0)->cpu_end = 5100;
    ring_at(0)->end = now();
    ring_at(0)->state = SFB_SLOT_ENDED;
    cr_expect_eq(sfb_recorder_drain(drain), SFB_OK);
    processes[0].cpu_end = 10500;
    processes[0].end = now();
    processes[0].state = SFB_SLOT_ENDED;
    c = end();
    cr_expect_eq(c->weight, 1000);
    cr_expect_eq(c->rests, 1000);
    cr_expect_eq(c->unsampled, 5000);
    cr_expect_eq(c->process[0].cpu, 7000);
    cr_expect_eq(c->pauses, 1);
    free(c);
}

static uint64_t cpu_now; /* of the thread and of the process, since their beginnings */

static bool says_cpu(void *with, uint32_t slot, uint64_t *out)
{
    (void)with;
    (void)slot;
    *out = cpu_now;
    return true;
}

/* What no sample has from before a pause stays missed, if the recording ends in the pause. */
Test(record_drain, a_pause_at_the_end_takes_no_earlier_loss)
{
    struct contents *c;

    watcher = (struct sfb_recorder_watcher){ .thread_cpu_now = says_cpu, .process_cpu = says_cpu };
    begin();
    add_process(0);
    processes[0].cpu_start = 100;
    add_ring(0, 0);
    ring_at(0)->cpu_start = 100;
    put_stack(0, 1); /* 1,000 ns of 4,000 before the pause */
    cpu_now = 4100;
    cr_expect_eq(sfb_recorder_drain(drain), SFB_OK);
    cr_expect_eq(sfb_recorder_drain_pause(drain, true), SFB_OK);
    cpu_now = 4600;               /* and 500 in it */
    ring_at(0)->cpu_paused = 200; /* its agent saw some of that */
    ring_at(0)->cpu_end = cpu_now;
    ring_at(0)->end = now();
    ring_at(0)->state = SFB_SLOT_ENDED;
    processes[0].cpu_end = cpu_now + 70; /* of no thread, and in the pause */
    processes[0].end = now();
    processes[0].state = SFB_SLOT_ENDED;
    c = end();
    cr_expect_eq(c->weight, 1000);
    cr_expect_eq(c->rests, 3000);
    cr_expect_eq(c->unsampled, 0);
    cr_expect_eq(c->process[0].cpu, 4000);
    free(c);
}

/* The same of threads that no ring is of. */
Test(record_drain, a_process_has_its_earlier_loss_after_a_pause)
{
    struct contents *c;

    for (int goes_on = 0; goes_on < 2; goes_on++) {
        watcher = (struct sfb_recorder_watcher){ .process_cpu = says_cpu };
        begin();
        add_process(0);
        cpu_now = 4000;
        cr_expect_eq(sfb_recorder_drain(drain), SFB_OK);
        cr_expect_eq(sfb_recorder_drain_pause(drain, true), SFB_OK);
        cpu_now = 4500;
        if (goes_on)
            cr_expect_eq(sfb_recorder_drain_pause(drain, false), SFB_OK);
        processes[0].cpu_end = cpu_now;
        processes[0].end = now();
        processes[0].state = SFB_SLOT_ENDED;
        c = end();
        cr_expect_eq(c->unsampled, 4000, "%d", goes_on);
        cr_expect_eq(c->process[0].cpu, 4000, "%d", goes_on);
        free(c);
    }
}

/* It cannot have been more than the thread has used. */
Test(record_drain, believes_no_pause_that_cannot_have_been)
{
    static const uint64_t said[] = { 4001, UINT64_MAX, (uint64_t)1 << 62 };

    for (size_t i = 0; i < sizeof said / sizeof *said; i++) {
        struct contents *c;

        begin();
        add_process(0);
        add_ring(0, 0);
        put_stack(0, 1);
        ring_at(0)->cpu_paused = said[i];
        ring_at(0)->cpu_end = 5000;
        ring_at(0)->end = now();
        ring_at(0)->state = SFB_SLOT_ENDED;
        cr_expect_eq(sfb_recorder_drain(drain), SFB_OK);
        processes[0].cpu_end = 5000;
        processes[0].end = now();
        processes[0].state = SFB_SLOT_ENDED;
        c = end();
        cr_expect_eq(c->weight, 1000);
        cr_expect(c->rests + c->unsampled + c->weight <= 5000, "%zu", i);
        cr_expect_eq(c->process[0].cpu, c->rests + c->unsampled + c->weight, "%zu", i);
        free(c);
    }
}

static void set_mark(uint32_t number, uint32_t state, uint32_t process, uint64_t time,
                     const char *name)
{
    struct sfb_shared_mark *mark = &shared->marks[number];

    mark->process = process;
    mark->time = time;
    memset(mark->name, 0, sizeof mark->name);
    memcpy(mark->name, name, strnlen(name, sizeof mark->name));
    mark->state = state;
}

Test(record_drain, takes_marks_and_believes_nothing_of_them)
{
    static char full[SFB_SHARED_MARK_NAME + 1];
    const uint64_t before = now();
    struct contents *c;

    memset(full, 'x', SFB_SHARED_MARK_NAME);
    begin();
    add_process(0);
    set_mark(0, SFB_SLOT_LIVE, 0, now(), "one");
    set_mark(1, SFB_SLOT_LIVE, UINT32_MAX, 0, "of no process, of no time");
    set_mark(2, SFB_SLOT_LIVE, 0, UINT64_MAX, "later");
    set_mark(3, 0xdead, 0, now(), "a state that is none");
    set_mark(4, SFB_SLOT_LIVE, 0, now(), ""); /* no name: it is no mark */
    set_mark(5, SFB_SLOT_CLAIMED, 0, now(), "not yet");
    set_mark(SFB_SHARED_MARKS - 1, SFB_SLOT_LIVE, 0, now(), full);
    cr_expect_eq(sfb_recorder_drain(drain), SFB_OK);
    for (uint32_t i = 0; i < SFB_SHARED_MARKS; i++)
        cr_expect_eq(shared->marks[i].state, (uint32_t)(i == 5 ? SFB_SLOT_CLAIMED : SFB_SLOT_FREE),
                     "%u", (unsigned)i);
    c = end();
    cr_expect_eq(c->marks, 4);
    cr_expect_str_eq(c->last_mark, full);
    cr_expect(c->last_mark_time >= before && c->last_mark_time <= now());
    free(c);
}

/* As its process may be stopped, and go on later: it is free again after that process. */
Test(record_drain, a_mark_that_is_not_set_yet_is_its_processs)
{
    enum { OF_A_PROCESS = 5, OF_A_FREE_SLOT, OF_NO_SLOT, END };
    const uint64_t long_ns = 11000000000;
    struct contents *c;

    begin();
    add_process(0);
    set_mark(OF_A_PROCESS, SFB_SLOT_CLAIMED, 0, now(), "not yet");
    set_mark(OF_A_FREE_SLOT, SFB_SLOT_CLAIMED, 1, now(), "not yet");
    set_mark(OF_NO_SLOT, SFB_SLOT_CLAIMED, UINT32_MAX, now(), "not yet");
    cr_expect_eq(sfb_recorder_drain(drain), SFB_OK);
    cr_expect_eq(sfb_recorder_drain(drain), SFB_OK);
    for (unsigned i = OF_A_PROCESS; i < END; i++) {
        cr_expect_eq(shared->marks[i].state, (uint32_t)SFB_SLOT_CLAIMED, "%u", i);
        drain->mark_claim[i].since -= long_ns;
    }
    cr_expect_eq(sfb_recorder_drain(drain), SFB_OK);
    cr_expect_eq(shared->marks[OF_A_PROCESS].state, (uint32_t)SFB_SLOT_CLAIMED);
    cr_expect_eq(shared->marks[OF_A_FREE_SLOT].state, (uint32_t)SFB_SLOT_FREE);
    cr_expect_eq(shared->marks[OF_NO_SLOT].state, (uint32_t)SFB_SLOT_FREE);
    processes[0].end = now();
    processes[0].state = SFB_SLOT_ENDED;
    cr_expect_eq(sfb_recorder_drain(drain), SFB_OK);
    add_process(0); /* the next one in its slot claims nothing */
    cr_expect_eq(sfb_recorder_drain(drain), SFB_OK);
    cr_expect_eq(sfb_recorder_drain(drain), SFB_OK);
    cr_expect_eq(shared->marks[OF_A_PROCESS].state, (uint32_t)SFB_SLOT_FREE);
    c = end();
    cr_expect_eq(c->marks, 0);
    free(c);
}

Test(record_drain, reads_a_program_that_executes_another)
{
    struct contents *c;

    begin();
    add_process(0);
    add_ring(0, 0);
    put_stack(0, 1);
    cr_expect_eq(sfb_recorder_drain(drain), SFB_OK);
    add_process(1);
    processes[1].pid = PID;
    processes[1].cpu_start = 7000;
    cr_expect_eq(sfb_recorder_drain(drain), SFB_OK);
    c = end();
    cr_assert_eq(c->process_count, 2);
    cr_expect(c->process[0].end == SFB_PROCESS_REPLACED && c->process[0].cpu == 7000);
    cr_expect(c->process[1].how == SFB_PROCESS_EXECUTED && c->process[1].end == SFB_PROCESS_LEFT);
    free(c);
}

static uint32_t says_a_free_slot(void *with, uint32_t slot, uint32_t pid)
{
    (void)with;
    (void)pid;
    return slot + 100;
}

/* 0 is no process, nor is what the system takes for all of them, or for a group. */
Test(record_drain, refuses_processes_with_impossible_numbers)
{
    static const uint32_t numbers[] = { 0, 0, UINT32_MAX, 1U << 31, (1U << 22) + 1 };
    struct contents *c;

    watcher = (struct sfb_recorder_watcher){ .process_before = says_a_free_slot };
    begin();
    add_process(0);
    for (uint32_t i = 0; i < sizeof numbers / sizeof *numbers; i++) {
        add_process(10 + i);
        processes[10 + i].pid = numbers[i];
    }
    add_process(20);
    processes[20].pid = PID; /* executed, and what it was before is not where the watcher says */
    cr_expect_eq(sfb_recorder_drain(drain), SFB_OK);
    for (uint32_t i = 0; i < sizeof numbers / sizeof *numbers; i++)
        cr_expect_eq(processes[10 + i].state, (uint32_t)SFB_SLOT_FREE, "%u", i);
    cr_expect_eq(sfb_recorder_drain(drain), SFB_OK);
    c = end();
    cr_expect_eq(c->process_count, 2);
    cr_expect_eq(c->lost[SFB_LOSS_BAD_RING], sizeof numbers / sizeof *numbers);
    cr_expect(strstr(c->texts, "impossible number") != NULL, "%s", c->texts);
    free(c);
}

/* Programs that execute others at once: what the first one left is not taken for its successor's. */
Test(record_drain, ends_the_threads_of_programs_that_it_never_saw)
{
    struct contents *c;

    begin();
    add_process(0);
    add_ring(0, 0);
    put_stack(0, 1);
    add_process(1);
    processes[1].pid = PID;
    add_ring(1, 1);
    ring_at(1)->pid = ring_at(1)->tid = PID;
    cr_assert_eq(sfb_recorder_drain(drain), SFB_OK);
    cr_expect_eq(processes[0].state, SFB_SLOT_FREE);
    cr_expect_eq(ring_at(0)->state, SFB_SLOT_FREE);
    add_process(0);
    add_ring(2, 0);
    ring_at(2)->tid = PID;
    cr_assert_eq(sfb_recorder_drain(drain), SFB_OK);
    c = end();
    cr_assert_eq(c->process_count, 3);
    cr_expect_eq(c->threads, 3);
    cr_expect(c->process[0].samples == 1 && c->process[1].samples == 0 &&
              c->process[2].samples == 0);
    free(c);
}

/* Threads on several processors use more CPU time than time passes. */
Test(record_drain, believes_cpu_time_of_several_processors)
{
    struct contents *c;

    if (sysconf(_SC_NPROCESSORS_ONLN) < 2) {
        SAY_SKIPPED("record_drain: there is one processor");
        return;
    }
    begin();
    add_process(0);
    cr_expect_eq(sfb_recorder_drain(drain), SFB_OK);
    processes[0].cpu_end = 1900000000; /* the bound of one processor is a second at the start */
    processes[0].end = now();
    processes[0].state = SFB_SLOT_ENDED;
    c = end();
    cr_expect_eq(c->process[0].cpu, 1900000000);
    cr_expect_eq(c->unsampled, 1900000000);
    free(c);
}

static bool lives;

static bool thread_lives(void *with, uint32_t slot, uint32_t tid)
{
    (void)with;
    (void)slot;
    return lives && tid == PID + 1;
}

/* exit() ends the ring of a thread that is in its handler. */
Test(record_drain, gives_no_ring_away_whose_thread_is_there)
{
    struct contents *c;

    watcher = (struct sfb_recorder_watcher){ .thread_lives = thread_lives };
    lives = true;
    begin();
    add_process(0);
    add_ring(0, 0);
    add_ring(1, 0);
    ring_at(0)->end = ring_at(1)->end = now();
    ring_at(0)->state = ring_at(1)->state = SFB_SLOT_ENDED;
    cr_expect_eq(sfb_recorder_drain(drain), SFB_OK);
    cr_expect_eq(ring_at(0)->state, SFB_SLOT_FREE);
    cr_expect_eq(ring_at(1)->state, SFB_SLOT_ENDED);
    lives = false;
    cr_expect_eq(sfb_recorder_drain(drain), SFB_OK);
    cr_expect_eq(ring_at(1)->state, SFB_SLOT_FREE);
    c = end();
    cr_expect_eq(c->threads, 2);
    free(c);
}

/* An agent sends a function again that it has forgotten: one without room is not written each time. */
Test(record_drain, writes_no_function_without_room)
{
    enum { CODES_MAX = 131072, AGAIN = 1000 };
    struct sfb_shared_code code = { .head = { .size = sizeof code, .kind = SFB_RECORD_CODE } };
    struct sfb_recorder_ids given = { .code = 0 };
    struct contents *c;

    _Static_assert(SFB_SHARED_CPU_RING % sizeof code == 0, "no record is split");
    ids = &given;
    begin();
    add_process(0);
    add_ring(0, 0);
    for (uint32_t i = 0; i < CODES_MAX + AGAIN; i++) {
        code.code = i < CODES_MAX ? i + 1 : UINT64_MAX;
        put(0, &code, sizeof code);
        if (i % 1024 == 0)
            cr_assert_eq(sfb_recorder_drain(drain), SFB_OK);
    }
    c = end();
    ids = NULL;
    cr_expect(eq(u32, given.code, CODES_MAX));
    cr_expect(eq(u64, c->lost[SFB_LOSS_PYTHON_FUNCTIONS], 1), "said once");
    free(c);
}

/* Any bytes: it ends, and the file reads. */
Test(record_drain, survives_random_memory)
{
    uint64_t random = 1;

    for (unsigned round = 0; round < 40; round++) {
        begin();
        for (uint32_t i = 0; i < 3; i++) {
            add_process(i);
            add_ring(2 * i, i);
            add_ring(2 * i + 1, i);
        }
        for (unsigned pass = 0; pass < 20; pass++) {
            for (uint32_t i = 0; i < 6; i++)
                put_stack(i, random % 50 + 1);
            for (unsigned i = 0; i < 40; i++) {
                const bool in_marks = (random >> 62) == 1;
                uint8_t *at = (random >> 62) == 0 ? (uint8_t *)&processes[random % 3]
                              : in_marks          ? (uint8_t *)shared->marks
                                                  : (uint8_t *)ring_at(random % 6);
                const size_t offset =
                    (random >> 8) % (in_marks ? sizeof shared->marks : 6000) & ~(size_t)7;
                uint64_t value = (random >> 40) & ((uint64_t)-1 >> (random >> 32) % 64);

                memcpy(at + offset, &value, sizeof value);
                random ^= random << 13;
                random ^= random >> 7;
                random ^= random << 17;
            }
            wake();
            cr_expect_eq(sfb_recorder_drain(drain), SFB_OK);
        }
        free(end());
    }
}

/* --- the environment ----------------------------------------------------------------------------- */

Test(record_environment, keeps_what_was_preloaded)
{
    static const struct {
        const char *before, *after;
    } cases[] = {
        { NULL, "LD_PRELOAD=/agent.so" },
        { "LD_PRELOAD=", "LD_PRELOAD=/agent.so" },
        { "LD_PRELOAD=/a.so b.so", "LD_PRELOAD=/agent.so:/a.so:b.so" },
        { "LD_PRELOAD=/a.so:/lib/libasan.so.8:b.so",
          "LD_PRELOAD=/lib/libasan.so.8:/agent.so:/a.so:b.so" },
        { "LD_PRELOAD=/x/libclang_rt.asan-x86_64.so",
          "LD_PRELOAD=/x/libclang_rt.asan-x86_64.so:/agent.so" },
        { "LD_PRELOAD=:/agent.so:c.so:", "LD_PRELOAD=/agent.so:c.so" },
    };

    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        char before[128], home[] = "HOME=/x", options[] = "ASAN_OPTIONS=a=1",
                          old[] = SFB_SHARED_ENVIRONMENT "=old";
        char *from[] = { home, options, old, before, NULL };
        char **to;

        snprintf(before, sizeof before, "%s", cases[i].before ? cases[i].before : "X=y");
        to = sfb_recorder_environment(from, "/agent.so", "1:2:3");
        cr_assert(to != NULL);
        cr_expect_str_eq(to[0], "HOME=/x");
        for (char **at = to; *at; at++) {
            if (strncmp(*at, "LD_PRELOAD=", 11) == 0)
                cr_expect_str_eq(*at, cases[i].after);
            if (strncmp(*at, "ASAN_OPTIONS=", 13) == 0)
                cr_expect_str_eq(*at, "ASAN_OPTIONS=a=1:verify_asan_link_order=0");
            if (strncmp(*at, "SFB_RECORD_SESSION=", 19) == 0)
                cr_expect_str_eq(*at, "SFB_RECORD_SESSION=1:2:3");
        }
        sfb_recorder_environment_free(to);
    }
}
