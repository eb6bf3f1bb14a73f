/* See handlers.h. */
#include "handlers.h"

#include <dlfcn.h>
#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <sys/syscall.h>
#include <ucontext.h>
#include <unistd.h>

#include "oracles/loaded.h"

enum { SIGNALS = 65 };

static struct {
    bool installed; /* the stepper's own is in force */
    struct sigaction own;
    struct kernel_action program;
} actions[SIGNALS];

static int real_sigaction(int signo, const struct sigaction *in, struct sigaction *out)
{
    static __typeof__(sigaction) *real;

    if (!real && !oracle_bind(RTLD_NEXT, &real, "sigaction"))
        abort();
    return real(signo, in, out);
}

static uint64_t bit(int signo)
{
    return 1ull << (signo - 1);
}

bool handlers_install(int signo, void (*handler)(int, siginfo_t *, void *), int flags)
{
    struct sigaction *own = &actions[signo].own;

    own->sa_flags = SA_SIGINFO | flags;
    own->sa_sigaction = handler;
    if (flags & SA_NODEFER) {
        sigemptyset(&own->sa_mask);
    } else {
        sigfillset(&own->sa_mask);
        sigdelset(&own->sa_mask, SIGSEGV);
        sigdelset(&own->sa_mask, SIGBUS);
    }
    /* The library's constructor comes before all of the program's code. */
    actions[signo].installed = real_sigaction(signo, own, NULL) == 0;
    return actions[signo].installed;
}

bool handlers_has(int signo)
{
    return signo > 0 && signo < SIGNALS && actions[signo].installed;
}

uint64_t handlers_unblocked(void)
{
    uint64_t mask = bit(SIGTRAP);

    /* A timer can wait; a trap, or a fault of an oracle, would kill. */
    if (handlers_has(SIGSEGV))
        mask |= bit(SIGSEGV) | bit(SIGBUS);
    return mask;
}

void handlers_exchange(int signo, const struct kernel_action *in, struct kernel_action *out)
{
    struct sigaction *own = &actions[signo].own;

    if (out)
        memcpy(out, &actions[signo].program, sizeof *out);
    if (!in)
        return;
    memcpy(&actions[signo].program, in, sizeof *in);
    if ((in->flags & SA_ONSTACK) && !(own->sa_flags & SA_ONSTACK)) {
        own->sa_flags |= SA_ONSTACK;
        real_sigaction(signo, own, NULL);
    }
}

void handlers_pass_on(int signo, siginfo_t *info, void *context)
{
    const struct kernel_action *program = &actions[signo].program;
    const ucontext_t *uc = context;
    void (*handler)(int, siginfo_t *, void *);
    uint64_t mask;

    if (program->handler == (uint64_t)(uintptr_t)SIG_IGN && info->si_code <= 0)
        return;
    if (program->handler == (uint64_t)(uintptr_t)SIG_DFL ||
        program->handler == (uint64_t)(uintptr_t)SIG_IGN) {
        struct sigaction none = { .sa_handler = SIG_DFL };

        real_sigaction(signo, &none, NULL); /* a fault happens anew */
        if (info->si_code <= 0 || signo == SIGTRAP)
            raise(signo);
        return;
    }
    memcpy(&mask, &uc->uc_sigmask, sizeof mask);
    mask |= program->mask | (program->flags & SA_NODEFER ? 0 : bit(signo));
    syscall(SYS_rt_sigprocmask, SIG_SETMASK, &mask, NULL, sizeof mask);
    memcpy(&handler, &program->handler, sizeof handler);
    handler(signo, info, context);
}

/* Many programs get here through libc; those that do not are met by guard_next_instruction(). */
// NOLINTNEXTLINE(readability-inconsistent-declaration-parameter-name)
__attribute__((visibility("default"))) int sigaction(int signo, const struct sigaction *in,
                                                     struct sigaction *out)
{
    struct kernel_action given = { 0 }, before;

    if (!handlers_has(signo))
        return real_sigaction(signo, in, out);
    if (in) {
        memcpy(&given.handler, &in->sa_handler, sizeof given.handler);
        given.flags = (uint64_t)(unsigned)in->sa_flags;
        memcpy(&given.mask, &in->sa_mask, sizeof given.mask);
    }
    handlers_exchange(signo, in ? &given : NULL, &before);
    if (out) {
        memset(out, 0, sizeof *out);
        memcpy(&out->sa_handler, &before.handler, sizeof out->sa_handler);
        out->sa_flags = (int)before.flags;
        memcpy(&out->sa_mask, &before.mask, sizeof before.mask);
    }
    return 0;
}

// NOLINTNEXTLINE(readability-inconsistent-declaration-parameter-name)
__attribute__((visibility("default"))) sighandler_t signal(int signo, sighandler_t handler)
{
    struct sigaction in = { .sa_handler = handler, .sa_flags = SA_RESTART }, out;

    return sigaction(signo, &in, &out) == 0 ? out.sa_handler : SIG_ERR;
}
