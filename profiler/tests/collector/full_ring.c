/* A ring without room: a sample that it refuses is lost and counted, a name or a function comes later. */
#include <stdlib.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "profiler/agent/agent.h"
#include "profiler/agent/cpu/ring_writer.h"
#include "profiler/agent/python/python_calls.h"
#include "support/fake_cpython.h"
#include "support/test.h"

enum { NEW_MAX = 32, FUNCTIONS = 40 };

Test(full_ring, counts_samples_alone)
{
    struct sfb_thread *t = calloc(1, sizeof *t);
    const struct sfb_shared_sample sample = { .weight = 1 };
    const uint64_t *lost;

    cr_assert(t != NULL);
    t->ring = calloc(1, sfb_shared_ring_stride(SFB_SHARED_CPU_RING));
    cr_assert(t->ring != NULL);
    t->head = SFB_SHARED_CPU_RING;
    lost = &t->ring->lost[SFB_LOSS_RING_FULL];
    cr_expect_null(sfb_ring_begin_code(t, sizeof(struct sfb_shared_code)));
    cr_expect(not(sfb_ring_put_name(t, "a name of 15 ..")));
    cr_expect(eq(u64, *lost, 0));
    cr_expect(not(sfb_ring_put_sample(t, &sample, NULL, 0)));
    cr_expect(eq(u64, *lost, 1));
    free(t->ring);
    free(t);
}

static struct {
    uint8_t *room; /* NULL: the ring is full */
    unsigned asked;
} ring;

static uint8_t *reserve(void *with, size_t size)
{
    (void)with, (void)size;
    ring.asked++;
    return ring.room;
}

static void publish(void *with, struct sfb_shared_code *code, size_t size)
{
    (void)with, (void)code, (void)size;
}

/* The functions behind it would have to be read, each in vain: in a handler. */
Test(full_ring, is_asked_once_for_a_stack)
{
    static const struct sfb_python_sink sink = { NULL, reserve, publish, NEW_MAX, true };
    static const struct fake_cpython how = {
        .frames = FUNCTIONS, .codes = FUNCTIONS, .lines = 100, .names = 10, .states = 1
    };
    static uint8_t record[1 << 16];
    static struct sfb_python_thread thread;
    static struct sfb_python_runs runs;
    const uint64_t tid = (uint64_t)syscall(SYS_gettid);
    _Alignas(16) char shim[FAKE_CPYTHON_SHIM];

    sfb_agent.process = calloc(1, sizeof *sfb_agent.process);
    cr_assert(sfb_agent.process != NULL);
    fake_cpython_run(&how, shim);
    cr_expect(eq(u32, sfb_python_read(&thread, &runs, &sink, tid), FUNCTIONS));
    cr_expect(eq(u32, ring.asked, 1));
    ring.room = record;
    ring.asked = 0;
    cr_expect(eq(u32, sfb_python_read(&thread, &runs, &sink, tid), FUNCTIONS));
    cr_expect(eq(u32, ring.asked, NEW_MAX));
    free(sfb_agent.process);
}
