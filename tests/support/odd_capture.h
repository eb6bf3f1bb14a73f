/*
 * A capture in a signal handler, where the row of .eh_frame has an expression that makes no rule: of
 * all sources libunwind alone can step there.
 */
#ifndef SUPPORT_ODD_CAPTURE_H
#define SUPPORT_ODD_CAPTURE_H

#include <dlfcn.h>
#include <signal.h>
#include <string.h>

#include "sframe_backtrace.h"
#include "support/machine.h"
#include "support/test.h"

static struct sframe_backtrace_info odd_info;
static void (*odd_look)(const void *ucontext); /* what else is done in the handler */

static void odd_on_fault(int number, siginfo_t *si, void *ucontext)
{
    struct sframe_backtrace_options options = { .size = sizeof options, .context = ucontext };
    struct sfb_regs regs = machine_regs(ucontext);
    static uint8_t bytes[1 << 12];

    (void)number;
    (void)si;
    odd_info = (struct sframe_backtrace_info){ .size = sizeof odd_info };
    sframe_backtrace_cbf(bytes, sizeof bytes, &options, &odd_info);
    if (odd_look)
        odd_look(ucontext);
    machine_set_ucontext(ucontext, regs.pc + MACHINE_FAULT_SIZE, regs.sp, regs.fp);
}

/* @return what was said of the capture */
static const struct sframe_backtrace_info *odd_capture(void)
{
    struct sigaction action = { .sa_sigaction = odd_on_fault, .sa_flags = SA_SIGINFO };
    static void *library; /* stays */
    int (*deep)(int);
    void *symbol;

    library = dlopen(SFB_TEST_LIBS "/libdeep-odd.so", RTLD_NOW | RTLD_LOCAL);
    cr_assert(library != NULL, "%s", dlerror());
    symbol = dlsym(library, "deep");
    cr_assert(symbol != NULL);
    memcpy(&deep, &symbol, sizeof deep); /* ISO C has no conversion from void * to a function */
    sigaction(SIGILL, &action, NULL);
    deep(3);
    return &odd_info;
}

#endif
