/*
 * Samples its own CPU time: SIGPROF comes 100 times a second, and the handler captures the stack as addresses. The memo
 * keeps the last walk, so that the outer part of a stack that did not change is not walked again.
 */
#include <sframe_backtrace.h>
#include <signal.h>
#include <stdio.h>
#include <sys/time.h>

enum { FRAMES = 64, SAMPLES = 20 };

/* A handler has no heap. A memo is all zero before its first use, and belongs to one thread. */
static uint64_t memo[SFRAME_BACKTRACE_MEMO_SIZE(FRAMES) / 8];
static void *stacks[SAMPLES][FRAMES];
static volatile sig_atomic_t samples, with_memo, whole;

static void on_sample(int number, siginfo_t *siginfo, void *context)
{
    struct sframe_backtrace_options options = SFRAME_BACKTRACE_OPTIONS_INIT;
    struct sframe_backtrace_info info = SFRAME_BACKTRACE_INFO_INIT;

    (void)number, (void)siginfo;
    options.context = context; /* start at the interrupted instruction, not in the handler */
    options.memo = memo;
    options.memo_size = sizeof memo;
    if (samples == SAMPLES ||
        sframe_backtrace_addresses(stacks[samples], FRAMES, &options, &info) < 0)
        return;
    with_memo += info.memo_used != 0;
    whole += info.end == SFB_END; /* the walk reached the outermost frame */
    samples++;
}

int main(void)
{
    struct sigaction action = { .sa_sigaction = on_sample, .sa_flags = SA_SIGINFO | SA_RESTART };
    struct itimerval every_10_ms = { { 0, 10000 }, { 0, 10000 } }, never = { { 0, 0 }, { 0, 0 } };

    sigaction(SIGPROF, &action, NULL);
    setitimer(ITIMER_PROF, &every_10_ms, NULL);
    while (samples < SAMPLES)
        ; /* the work */
    setitimer(ITIMER_PROF, &never, NULL);
    printf("%d samples, %d whole stacks\n", (int)samples, (int)whole);
    puts(with_memo > 0 ? "the memo was used" : "the memo was not used");
}
