/*
 * The handler: who reports, and what becomes of the signal.
 *
 *     owner: 0 --first thread--> its id --report--> 0, then the previous handler
 *                                              \--> the default action; it stays
 *
 * None of the seven signals is blocked while a report is written (SA_NODEFER), so that a crash
 * inside of it comes here, too, and is known by the owner. Blocked, the kernel would end the
 * process just as well, but without a word.
 *
 * Tried and dropped: a flag in thread-local storage instead of the owner. It says nothing to the
 * other threads, and after a previous handler that jumped out of there nobody clears it.
 */
#include <errno.h>
#include <string.h>

#include "crash/crash.h"
#include "crash/kernel.h"
#include "crash/report.h"

enum { REPORTS_MAX = 16, WAIT_STEP_MS = 10, WAIT_MAX_MS = 10000 };

/* The thread that reports, 0: none. What follows is the owner's. */
static atomic_int owner;

static struct sfb_text text;
static const char *volatile part;
static volatile int number_handled; /* the signal */
static volatile uint32_t deferred;  /* signals that were sent meanwhile: 1 << number */
static volatile bool crashed_inside;
static unsigned reports;

/* What was reported last. */
static struct crash {
    int thread, number;
    uint64_t pc, address;
} last;

static struct sigaction *previous_of(int number)
{
    for (int i = 0; i < SFB_CRASH_SIGNALS; i++)
        if (sfb_crash_signals[i] == number)
            return &sfb_crash.previous[i];
    return NULL;
}

static bool has_flag(const struct sigaction *action, unsigned flag)
{
    return ((unsigned)action->sa_flags & flag) != 0;
}

static bool is_default(const struct sigaction *action)
{
    return !has_flag(action, SA_SIGINFO) &&
           (action->sa_handler == SIG_DFL || action->sa_handler == SIG_IGN);
}

/*
 * Whether the instruction that was interrupted runs again, to the same end, when the handler
 * returns. A signal that is sent in its place would not do: from any thread but the first, the
 * kernel takes only what kill() could have sent, and the core dump would not have the address.
 */
static bool comes_again(int number, const siginfo_t *info)
{
    return info->si_code > 0 &&
           (number == SIGSEGV || number == SIGBUS || number == SIGILL || number == SIGFPE);
}

static void raise_bare(int number)
{
    sfb_kernel(SYS_tgkill, (uint64_t)sfb_kernel_process(), (uint64_t)sfb_kernel_thread(),
               (uint64_t)number, 0);
}

/* Raises a signal anew, with what came with it, as far as the kernel takes it. */
static void raise_again(int number, const siginfo_t *info)
{
    if (sfb_kernel(SYS_rt_tgsigqueueinfo, (uint64_t)sfb_kernel_process(),
                   (uint64_t)sfb_kernel_thread(), (uint64_t)number, (uintptr_t)info) != 0)
        raise_bare(number);
}

/*
 * Leaves the process to the default action of a signal, at the instruction that was interrupted,
 * when the handler returns: until then it is blocked, and so pending.
 */
static void leave_to_default(int number, const siginfo_t *info)
{
    sfb_kernel_mask(SIG_BLOCK, sfb_kernel_sigbit(number));
    sfb_kernel_default(number);
    if (!comes_again(number, info))
        raise_again(number, info);
}

/* The same, here and now. */
_Noreturn static void die(int number)
{
    sfb_kernel_default(number);
    sfb_kernel_mask(SIG_UNBLOCK, sfb_kernel_sigbit(number));
    raise_bare(number);
    sfb_kernel_exit(128 + number); /* a filter of system calls was in the way */
}

_Noreturn static void crash_inside(int number, const siginfo_t *info)
{
    if (!crashed_inside) {
        crashed_inside = true;
        sfb_text_flush(&text);
        sfb_text_string(&text, "\n" SFB_CRASH_PREFIX "signal ");
        sfb_text_decimal(&text, number);
        sfb_text_string(&text, " inside the handler (");
        sfb_text_string(&text, part);
        sfb_text_string(&text, "), address ");
        sfb_text_hex(&text, (uintptr_t)info->si_addr);
        sfb_text_string(&text, ": the process ends\n");
        sfb_text_flush(&text);
    }
    die(number_handled);
}

/* A child of vfork(), or the thread that another one forked away from, does not give it back. */
static bool is_gone(int thread)
{
    return sfb_kernel(SYS_tgkill, (uint64_t)sfb_kernel_process(), (uint64_t)thread, 0, 0) == -ESRCH;
}

/* @return false: another thread has been at it for too long */
static bool become_owner(int thread)
{
    for (unsigned waited = 0; waited < WAIT_MAX_MS; waited += WAIT_STEP_MS) {
        int there = 0;

        if (atomic_compare_exchange_strong(&owner, &there, thread))
            return true;
        if (is_gone(there) && atomic_compare_exchange_strong(&owner, &there, thread))
            return true;
        sfb_kernel_sleep_ms(WAIT_STEP_MS);
    }
    return false;
}

/* Whether a previous handler came back to the very same, and whether there were too many. */
static bool is_worth_a_report(const struct crash *now)
{
    if (reports == REPORTS_MAX || (now->thread == last.thread && now->number == last.number &&
                                   now->pc == last.pc && now->address == last.address))
        return false;
    last = *now;
    reports++;
    return true;
}

static void report(int number, const siginfo_t *info, const void *ucontext, int thread,
                   const struct sigaction *next)
{
    const struct sfb_crash_event event = { .number = number,
                                           .info = info,
                                           .ucontext = ucontext,
                                           .process = sfb_kernel_process(),
                                           .thread = thread,
                                           .next = next };
    struct sfb_context context;
    struct crash now = { .thread = thread, .number = number, .address = (uintptr_t)info->si_addr };

    sfb_context_from_ucontext(&context, ucontext);
    now.pc = context.reg[SFB_ARCH_PC];
    if (is_worth_a_report(&now))
        sfb_crash_report(&text, &event, &part);
}

/* What the owner starts from, also where another one was killed in the middle. */
static void begin(int number)
{
    number_handled = number;
    deferred = 0;
    crashed_inside = false;
    part = "start";
    sfb_text_begin(&text, sfb_crash.fd, sfb_crash.fd_waits);
}

/* What came during the report comes now. */
static void end(void)
{
    uint32_t numbers = deferred;

    atomic_store(&owner, 0);
    for (int i = 0; i < SFB_CRASH_SIGNALS; i++)
        if (numbers & (uint32_t)1 << sfb_crash_signals[i])
            raise_bare(sfb_crash_signals[i]);
}

/* Whether another process sent it; this one's abort() and raise() are a crash like any other. */
static bool is_from_outside(const siginfo_t *info)
{
    return info->si_code <= 0 && info->si_pid != sfb_kernel_process();
}

/* Calls a previous handler as the kernel would have done it. */
static void pass_on(const struct sigaction *action, int number, siginfo_t *info, void *ucontext)
{
    const ucontext_t *uc = ucontext;
    uint64_t interrupted, own;

    memcpy(&interrupted, &uc->uc_sigmask, sizeof interrupted);
    memcpy(&own, &action->sa_mask, sizeof own);
    if (!has_flag(action, SA_NODEFER))
        own |= sfb_kernel_sigbit(number);
    sfb_kernel_mask(SIG_SETMASK, interrupted | own);
    if (has_flag(action, SA_SIGINFO))
        action->sa_sigaction(number, info, ucontext);
    else
        action->sa_handler(number);
}

void sfb_crash_handle(int number, siginfo_t *info, void *ucontext)
{
    const int thread = sfb_kernel_thread();
    struct sigaction *previous = previous_of(number);
    struct sigaction action;

    if (atomic_load(&owner) == thread) {
        if (!is_from_outside(info))
            crash_inside(number, info);
        deferred |= (uint32_t)1 << number;
        return;
    }
    if (!become_owner(thread))
        die(number);
    begin(number);
    action = *previous;
    if (atomic_load(&sfb_crash.active))
        report(number, info, ucontext, thread, &action);
    if (is_default(&action)) {
        leave_to_default(number, info);
        return;
    }
    if (has_flag(&action, SA_RESETHAND))
        *previous = (struct sigaction){ .sa_flags = 0 };
    end();
    pass_on(&action, number, info, ucontext);
}
