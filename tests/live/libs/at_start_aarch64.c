/*
 * Before the program: the loader runs a library's constructor, and then `_start`, every instruction
 * of which is a place to be interrupted at. There is nothing further out.
 */
#include <signal.h>
#include <stdint.h>
#include <string.h>
#include <sys/auxv.h>
#include <sys/mman.h>
#include <ucontext.h>

#include "oracles/linked.h"
#include "support/expect.h"

int at_start_failures(void);

static const uint32_t trap = 0xd4200000, bl = 0x25; /* brk #0; the upper six bits of a call */

static unsigned steps;
static uint32_t saved;
static struct trace ours, theirs;

/* Inlined, so that the first frame is the caller's. */
__attribute__((always_inline)) static inline enum sfb_status walk(void *context, uint32_t flags)
{
    struct sframe_backtrace_options options = { .size = sizeof options,
                                                .context = context,
                                                .flags = flags };
    struct sframe_backtrace_info info = { .size = sizeof info };
    uint8_t buffer[1024];

    trace_decode(&ours, buffer, sframe_backtrace_cbf(buffer, sizeof buffer, &options, &info));
    return info.end;
}

static void put_code(uint64_t address, uint32_t code)
{
    uint32_t *at = (uint32_t *)(uintptr_t)address;

    saved = *at;
    *at = code;
    __builtin___clear_cache((char *)at, (char *)(at + 1));
}

static void on_trap(int number, siginfo_t *si, void *context)
{
    uint64_t pc = ((ucontext_t *)context)->uc_mcontext.pc;

    (void)number;
    (void)si;
    put_code(pc, saved);
    for (uint32_t flags = 0; flags <= SFRAME_BACKTRACE_NO_LIBUNWIND; flags++) {
        enum sfb_status end = walk(context, flags);

        expect(end == SFB_END && ours.end && ours.count == 1 && ours.address[0] == pc,
               "interrupted in _start", sfb_status_str(end));
    }
    steps++;
    if (*(const uint32_t *)(uintptr_t)pc >> 26 != bl)
        put_code(pc + 4, trap);
}

__attribute__((constructor)) static void before_start(void)
{
    struct sigaction action = { .sa_sigaction = on_trap, .sa_flags = SA_SIGINFO };
    uint64_t entry = getauxval(AT_ENTRY);

    for (uint32_t flags = 0; flags <= SFRAME_BACKTRACE_NO_LIBUNWIND; flags++) {
        enum sfb_status end = walk(NULL, flags);

        linked_libgcc_walk(&theirs, 0);
        if (!expect(end == SFB_END && ours.end && ours.count > 3 &&
                        trace_differs(&ours, 1, &theirs, 1) == SIZE_MAX,
                    "a constructor", sfb_status_str(end)))
            trace_print("a constructor", &ours, &theirs);
    }
    sigaction(SIGTRAP, &action, NULL);
    mprotect((void *)(uintptr_t)(entry & ~(uint64_t)4095), 2 * 4096,
             PROT_READ | PROT_WRITE | PROT_EXEC);
    put_code(entry, trap);
}

int at_start_failures(void)
{
    printf("outermost: %u instructions of _start, %u failures\n", steps, failures);
    return failures != 0 || steps < 5;
}
