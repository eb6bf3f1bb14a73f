#include "contract/situation.h"

#include <dlfcn.h>
#include <signal.h>
#include <stdint.h>
#include <stdio.h>
#include <unistd.h>

#include "support/machine.h"

int deep(int depth);      /* with .sframe */
int bare_deep(int depth); /* without */

enum { DEPTH = 100, ALTERNATE_SIZE = 256 << 10 };

static uint8_t alternate_stack[ALTERNATE_SIZE];
static int (*call_lazily)(int depth);
static in_handler_fn *to_call;

static void on_fault(int number, siginfo_t *si, void *ucontext)
{
    struct sfb_regs regs = machine_regs(ucontext);

    (void)number;
    (void)si;
    to_call(ucontext);
    machine_set_ucontext(ucontext, regs.pc + MACHINE_FAULT_SIZE, regs.sp, regs.fp);
}

void prepare_situation(enum situation situation)
{
    static void *library; /* stays */

    if (situation != IN_LOADER)
        return;
    library = dlopen(SFB_TEST_LIBS "/liblazy.so", RTLD_LAZY | RTLD_LOCAL);
    if (!library) {
        fprintf(stderr, "contract: %s\n", dlerror());
        _exit(3);
    }
    *(void **)&call_lazily = dlsym(library, "call_lazily");
}

void in_handler(enum situation situation, bool alternate, in_handler_fn *call)
{
    const stack_t on = { .ss_sp = alternate_stack, .ss_size = sizeof alternate_stack };
    const stack_t off = { .ss_flags = SS_DISABLE };
    struct sigaction action = { .sa_sigaction = on_fault,
                                .sa_flags = SA_SIGINFO | (alternate ? SA_ONSTACK : 0) };

    to_call = call;
    sigaltstack(alternate ? &on : &off, NULL);
    sigaction(SIGILL, &action, NULL);
    switch (situation) {
    case IN_SFRAME: deep(DEPTH); break;
    case IN_EH_FRAME: bare_deep(DEPTH); break;
    case IN_LOADER: call_lazily(DEPTH); break;
    case SITUATIONS: break;
    }
}
