/* Names of numbers in recordings. */
#include "sfb/recording.h"

static const char *at(const char *const *texts, uint32_t count, uint32_t number)
{
    return number < count ? texts[number] : "?";
}

const char *sfb_recording_engine_str(uint32_t engine)
{
    static const char *const texts[] = { "none",
                                         "perf",
                                         "perf, user time only",
                                         "CPU-time timers",
                                         "sampler thread",
                                         "perf from outside",
                                         "perf from outside, user time only",
                                         "looks from outside",
                                         "a trace of calls" };

    return at(texts, sizeof texts / sizeof *texts, engine);
}

const char *sfb_recording_state_str(uint32_t state)
{
    static const char *const texts[SFB_STATE_COUNT] = { "runnable",   "asleep",  "disk",
                                                        "page fault", "stopped", "short waits" };

    return at(texts, SFB_STATE_COUNT, state);
}

const char *sfb_recording_loss_str(uint32_t reason)
{
    static const char *const texts[SFB_LOSS_COUNT] = {
        "samples: the thread's ring was full",
        "threads: no ring was left",
        "processes: no place was left",
        "rings that the program overwrote",
        "threads: the system gave no timer",
        "samples that came while the agent was at work",
        "processes that could not be followed",
        "incomplete module lists",
        "bytes that could not be written",
        "events of the heap: the ring stayed full",
        "waits of threads for room in a ring",
        "samples that came late: the time before was never sampled",
        "system calls that returned EINTR because of a sample",
        "steps by which the rate was lowered: samples cost too much",
        "ms of CPU time that is in no process of the recording",
        "processes: a limit on address space (ulimit -v) left no room",
        ("modules with RTLD_DEEPBIND or __libc_malloc(), whose own calls of malloc() and free() "
         "are not seen"),
        "events of the heap unseen, of modules that bypass the agent",
        "processes with a seccomp filter: not recorded from there on",
        "processes with a Python whose functions are shown as C",
        "records of a later version, left out by sfb merge",
        "processes with a Python that has set its own allocators: no small objects",
        "processes with more Python functions than find room, [omitted] in stacks",
        "threads whose waits are by looks alone",
    };

    return at(texts, SFB_LOSS_COUNT, reason);
}
