/* Recordings whose writer is killed: what it flushed is there, and what is there is whole. */
#include "sfb/recording.h"

#include <sched.h>
#include <signal.h>
#include <stdatomic.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <sys/wait.h>
#include <unistd.h>

#include "profiler/tests/recording/made.h"
#include "profiler/tests/recording/reading.h"
#include "support/test.h"

enum { KILLS = 40, FLUSH_EACH = 7 };

/* Writes samples whose times are 1, 2, ... until it is killed; says how many were flushed. */
static void write_until_killed(struct sfb_recording_writer *w, _Atomic uint64_t *flushed)
{
    uint8_t cbf[256];

    sfb_recording_put_process(w, &(struct sfb_recording_process){ .id = 1 });
    sfb_recording_put_thread(w, &(struct sfb_recording_thread){ .id = 1, .process = 1 });
    for (uint64_t i = 1;; i++) {
        struct sfb_recording_sample sample = { .thread = 1, .time = i };
        const size_t size = made_stack(cbf, sizeof cbf, 0x1000 + i, i, 12);

        if (sfb_recording_put_stack(w, &sample.stack, 1, cbf, size) != SFB_OK ||
            sfb_recording_put_sample(w, &sample) != SFB_OK)
            _exit(1);
        if (i % FLUSH_EACH == 0 && sfb_recording_writer_flush(w) == SFB_OK)
            atomic_store(flushed, i);
    }
}

/* @return samples in the file, which are 1, 2, ... without a gap */
static uint64_t count_samples(const struct made *made)
{
    struct sfb_recording_reader *reader = reader_of(made->bytes, made->size);
    struct sfb_recording_event event;
    struct sfb_recording_health health;
    uint64_t samples = 0;

    while (sfb_recording_reader_next(reader, &event) == SFB_OK) {
        if (event.kind == SFB_EVENT_SAMPLE) {
            cr_assert(eq(u64, event.of.sample.time, ++samples));
            cr_assert(eq(u64, event.of.sample.stack, samples));
        }
    }
    health = health_of(reader);
    cr_expect(eq(u64, health.skipped + health.bad_blocks + health.bad_records, 0));
    cr_expect(not(health.finished));
    sfb_recording_reader_close(reader);
    return samples;
}

Test(recording, of_a_writer_that_is_killed_has_what_was_flushed)
{
    void *shared =
        mmap(NULL, sizeof(uint64_t), PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
    _Atomic uint64_t *flushed = shared;
    uint64_t all = 0, random = 18;

    cr_assert_neq(shared, MAP_FAILED);
    for (size_t i = 0; i < KILLS; i++) {
        int fd;
        struct sfb_recording_writer *w = made_open(&fd, packer_of(i % 2), 0);
        struct made made;
        uint64_t samples, wanted;
        pid_t child;

        atomic_store(flushed, 0);
        child = fork();
        cr_assert(ge(int, child, 0));
        if (child == 0)
            write_until_killed(w, flushed);
        random = random * 0xd1342543de82ef95u + 1;
        wanted = (random >> 40) % 2000;
        while (atomic_load(flushed) < wanted)
            sched_yield();
        kill(child, SIGKILL);
        cr_assert(eq(int, waitpid(child, NULL, 0), child));
        made = made_read(fd);
        samples = count_samples(&made);
        cr_expect(le(u64, atomic_load(flushed), samples), "kill %zu", i);
        all += samples;
        free(made.bytes);
        sfb_recording_writer_close(w, 0, NULL);
    }
    cr_expect(lt(u64, 1000, all));
}
