#include "profiler/collector/session/session.h"

#include <errno.h>
#include <linux/futex.h>
#include <signal.h>
#include <stdio.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/random.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

#include "profiler/collector/session/beacon.h"
#include "profiler/protocol/beacon_hold.h"
#include "profiler/protocol/counter.h"
#include "util/hex_text.h"

/* Called before the first agent comes. */
static void fill(struct sfb_shared *shared, const struct sfb_recorder_session_options *options,
                 uint32_t ring_bytes)
{
    memcpy(shared->magic, SFB_SHARED_MAGIC, sizeof shared->magic);
    shared->version = SFB_SHARED_VERSION;
    shared->rate_hz = options->rate_hz;
    shared->engines = options->engines;
    shared->flags = options->flags;
    shared->signal = SIGPROF;
    shared->mode = options->mode;
    shared->ring_bytes = ring_bytes;
    shared->heap_rate = options->heap_rate;
    shared->heap_flags = options->heap_flags;
    shared->counter = sfb_counter_may_be_used();
    shared->counter_start = sfb_counter_read(shared->counter);
}

/* Writes the text for the agents' environment. */
static bool write_text(struct sfb_recorder_session *s, const char *key)
{
    struct stat beacon;

    if (fstat(s->handout.beacon, &beacon) != 0)
        return false;
    return snprintf(s->text, sizeof s->text, "%ld:%d:%d:%llx:%llx:%s:%s", (long)getpid(), s->fd,
                    s->handout.beacon, (unsigned long long)beacon.st_dev,
                    (unsigned long long)beacon.st_ino, key, s->handout.path) < (int)sizeof s->text;
}

const char *sfb_recorder_session_open(struct sfb_recorder_session *out,
                                      const struct sfb_recorder_session_options *options)
{
    const uint32_t ring_bytes = sfb_shared_ring_bytes((enum sfb_shared_mode)options->mode);
    char key[SFB_HANDOUT_KEY + 1];
    const char *what;

    *out = (struct sfb_recorder_session){ .size = sfb_shared_size(ring_bytes),
                                          .fd = -1,
                                          .handout = SFB_HANDOUT_NONE };
    out->shared = sfb_beacon_memory(&out->fd, "sfb-record", out->size, &what);
    if (!out->shared)
        return what;
    if (getrandom(out->shared->key, sizeof out->shared->key, 0) != (ssize_t)sizeof out->shared->key)
        return "getrandom";
    fill(out->shared, options, ring_bytes);
    out->beacon = sfb_beacon_light(&out->handout.beacon, out->fd, out->shared->key, &what);
    if (!out->beacon)
        return what;
    sfb_hex_text(key, out->shared->key, SFB_HANDOUT_KEY / 2);
    out->handout.memory = out->fd;
    if (!sfb_handout_open(&out->handout, key))
        return "a socket";
    return write_text(out, key) ? NULL : "fstat";
}

const char *sfb_recorder_session_serve(struct sfb_recorder_session *session)
{
    return sfb_handout_serve(&session->handout);
}

uint32_t sfb_recorder_session_seen(const struct sfb_recorder_session *session)
{
    return __atomic_load_n(&session->shared->wake, __ATOMIC_ACQUIRE);
}

bool sfb_recorder_session_wait(const struct sfb_recorder_session *session, uint32_t seen,
                               uint64_t ns)
{
    const struct timespec limit = { .tv_sec = (time_t)(ns / 1000000000),
                                    .tv_nsec = (long)(ns % 1000000000) };

    return syscall(SYS_futex, &session->shared->wake, FUTEX_WAIT, seen, &limit, NULL, 0) != 0 &&
           errno == EINTR;
}

void sfb_recorder_session_close(struct sfb_recorder_session *session)
{
    sfb_handout_close(&session->handout);
    if (session->beacon) {
        sfb_beacon_put_out(session->beacon);
        munmap(session->beacon, SFB_SHARED_PAGE);
    }
    if (session->shared)
        munmap(session->shared, session->size);
    if (session->handout.beacon >= 0)
        close(session->handout.beacon);
    if (session->fd >= 0)
        close(session->fd);
}
