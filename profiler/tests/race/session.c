#include "profiler/tests/race/session.h"

#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#include "profiler/agent/agent.h"
#include "profiler/agent/clocks.h"
#include "profiler/agent/space.h"
#include "profiler/collector/heap/heap_drain.h"
#include "race/check.h"
#include "sfb/recording.h"

static struct sfb_recording_writer *writer;
static struct sfb_recorder_drain *drain;

struct sfb_shared *session_begin(enum sfb_shared_mode mode)
{
    static const struct sfb_shared_beacon lit = { .owner.holder = 1 };
    static const struct sfb_recording_start start = {
        .engine_text = "", .version = "", .host = "", .command = ""
    };
    const uint32_t ring_bytes = sfb_shared_ring_bytes(mode);
    struct sfb_shared *shared = mmap(NULL, sfb_shared_size(ring_bytes), PROT_READ | PROT_WRITE,
                                     MAP_SHARED | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
    const struct sfb_recorder_drain_options options = { .fd = -1,
                                                        .shared = shared,
                                                        .writer = NULL,
                                                        .heap = &sfb_recorder_heap_drain,
                                                        .aggregate = true,
                                                        .own_thread = true };
    struct sfb_recorder_drain_options with = options;

    CHECK(shared != MAP_FAILED, "no memory");
    memcpy(shared->magic, SFB_SHARED_MAGIC, sizeof shared->magic);
    shared->version = SFB_SHARED_VERSION;
    shared->mode = mode;
    shared->ring_bytes = ring_bytes;
    shared->counter_start = sfb_now();
    CHECK(sfb_recording_writer_open(&writer, memfd_create("recording", MFD_CLOEXEC), &start,
                                    NULL) == SFB_OK,
          "no recording");
    with.writer = writer;
    CHECK(sfb_recorder_drain_open(&drain, &with) == SFB_OK, "no drain");
    sfb_agent.shared = shared;
    sfb_space_whole(shared, false);
    sfb_agent.beacon = &lit;
    sfb_agent.ring_bytes = ring_bytes;
    return shared;
}

void session_drain(void)
{
    CHECK(sfb_recorder_drain(drain) == SFB_OK, "it failed");
}

struct sfb_recorder_totals session_end(void)
{
    struct sfb_recorder_totals totals;

    CHECK(sfb_recorder_drain_finish(drain) == SFB_OK, "it failed");
    sfb_recorder_drain_totals(drain, &totals);
    sfb_recorder_drain_close(drain);
    CHECK(sfb_recording_writer_close(writer, sfb_now(), "") == SFB_OK, "it is not written");
    return totals;
}
