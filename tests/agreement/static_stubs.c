/*
 * A static program whose IRELATIVE slots have stubs without a table (-static -Wl,--eh-frame-hdr). Nothing
 * can be preloaded into it, so it steps through its own tail calls of such stubs, and says how
 * many stacks it took and how many of them are complete: two numbers.
 */
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <ucontext.h>

#include "sframe_backtrace.h"

enum { TRAP_FLAG = 0x100, BYTES = 24 };

static volatile unsigned long stacks, complete;
static volatile int stepping;
static char from[BYTES] = "two dozen bytes of text", to[BYTES];

static void on_trap(int signo, siginfo_t *info, void *context)
{
    ucontext_t *uc = context;
    struct sframe_backtrace_options options = { .size = sizeof options, .context = uc };
    struct sframe_backtrace_info of = { .size = sizeof of };
    void *frames[64];

    (void)signo;
    (void)info;
    if (stepping)
        uc->uc_mcontext.gregs[REG_EFL] |= TRAP_FLAG;
    else
        uc->uc_mcontext.gregs[REG_EFL] &= ~TRAP_FLAG;
    sframe_backtrace_addresses(frames, 64, &options, &of);
    stacks++;
    complete += of.end == SFB_END;
}

__attribute__((noinline, noclone)) static void *copy(void *out, const void *in, size_t n)
{
    return memcpy(out, in, n);
}

__attribute__((noinline, noclone)) static size_t length(const char *text)
{
    return strlen(text);
}

int main(int argc, char **argv)
{
    struct sigaction action = { .sa_sigaction = on_trap, .sa_flags = SA_SIGINFO };
    unsigned long most = argc > 1 ? strtoul(argv[1], NULL, 10) : 1000, sum = 0;

    sigaction(SIGTRAP, &action, NULL);
    while (stacks < most) {
        stepping = 1;
        raise(SIGTRAP);
        copy(to, from, BYTES);
        sum += length(to);
        stepping = 0;
    }
    printf("%lu %lu\n", stacks, complete);
    return sum == 0;
}
