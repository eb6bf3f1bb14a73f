/*
 * Samples its own CPU time, and does as little as possible in the handler: it copies the registers and the top of the stack.
 * The stack is walked later, from the copy.
 */
#include <sframe_backtrace.h>
#include <signal.h>
#include <stdio.h>
#include <string.h>
#include <sys/time.h>
#include <ucontext.h>

enum { FRAMES = 64, ROOM = 16 << 10 };

/* The registers and the stack of one moment. */
static struct copy {
    ucontext_t context;
    uint64_t at; /* where the first of the bytes was */
    size_t size;
    unsigned char bytes[ROOM];
} copy;
static volatile sig_atomic_t copied;
static const unsigned char *stack_end;

static void on_sample(int number, siginfo_t *siginfo, void *context)
{
    unsigned char *here = __builtin_frame_address(0); /* further in than the interrupted code */

    (void)number, (void)siginfo;
    copy.context = *(ucontext_t *)context;
    copy.at = (uintptr_t)here;
    copy.size = (size_t)(stack_end - here) < ROOM ? (size_t)(stack_end - here) : ROOM;
    memcpy(copy.bytes, here, copy.size);
    copied = 1;
}

/* The walk reads each word here. What is not in the copy ends it. */
static bool read_copy(void *user, uint64_t address, uint64_t *word)
{
    const struct copy *from = user;

    if (address - from->at >= from->size || from->size - (address - from->at) < sizeof *word)
        return false;
    memcpy(word, from->bytes + (address - from->at), sizeof *word);
    return true;
}

static __attribute__((noinline)) void work(void)
{
    while (!copied)
        ;
}

int main(int argc, char **argv)
{
    struct sframe_backtrace_options options = SFRAME_BACKTRACE_OPTIONS_INIT;
    struct sframe_backtrace_info info = SFRAME_BACKTRACE_INFO_INIT;
    struct sigaction action = { .sa_sigaction = on_sample, .sa_flags = SA_SIGINFO };
    struct itimerval in_10_ms = { { 0, 0 }, { 0, 10000 } };
    void *stack[FRAMES];

    (void)argc;
    stack_end = (const unsigned char *)argv; /* all frames lie below */
    sigaction(SIGPROF, &action, NULL);
    setitimer(ITIMER_PROF, &in_10_ms, NULL);
    work();
    options.context = &copy.context;
    options.read = read_copy;
    options.read_user = &copy;
    if (sframe_backtrace_addresses(stack, FRAMES, &options, &info) < 0)
        return 1;
    printf("%s\n", info.end == SFB_END ? "a whole stack, after its functions have returned"
                                       : sfb_status_str(info.end));
    return 0;
}
