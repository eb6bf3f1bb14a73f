/*
 * The handler: chooses the thread that reports, and what happens to the signal afterwards.
 *
 *     owner: 0 --first thread--> its id --report--> 0, then the previous handler
 *                                              \--> the default action; it stays
 *
 * None of the seven signals is blocked while a report is written (SA_NODEFER). So a fault inside of a
 * report comes here, too, and the report goes on behind it. If it were blocked, the kernel would end the
 * process without a report.
 *
 * (Functions that do not return are not sanitized: the sanitizers' code for that may crash again and
 * again.)
 *
 * A filter may answer any system call with an error, or with SIGSYS, which is turned into an error.
 * Whatever it refuses, the end is reached: see die().
 *
 * Tried and dropped: a flag in thread-local storage instead of the owner. Other threads cannot see it.
 * (nesting.c also has such a flag, but checks it against the stack: after a previous handler has jumped
 * out, the flag is never cleared.)
 */
#include "crash/handler.h"

#include <errno.h>
#include <string.h>
#include <sys/stat.h>

#include "base/memory.h"
#include "crash/attempt.h"
#include "crash/crash.h"
#include "crash/grammar.h"
#include "crash/kernel.h"
#include "crash/nesting.h"
#include "crash/registers.h"
#include "crash/report.h"
#include "unwind/machine/arch.h"
#include "unwind/machine/native.h"

enum { REPORTS_MAX = 16, WAIT_STEP_MS = 10, WAIT_MAX_MS = 10000 };

/* The thread that reports; 0: free. Only the owner touches the variables below. */
static atomic_int owner;

static struct sfb_text text;
static volatile bool crashed_inside;
static volatile bool is_leaving; /* the default action is restored, the report is over */
static unsigned reports_passed;  /* for a previous handler, which may recover */
static bool told_limit;

/* The crash that was reported last. */
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

static bool is_plain(const struct sigaction *action, void (*handler)(int))
{
    return !has_flag(action, SA_SIGINFO) && action->sa_handler == handler;
}

static bool is_default(const struct sigaction *action)
{
    return is_plain(action, SIG_DFL) || is_plain(action, SIG_IGN);
}

/* Tells whether the signal is a fault found by the kernel; else a process sent it. */
static bool is_fault(const siginfo_t *info)
{
    return info->si_code > 0;
}

/*
 * Tells whether the interrupted instruction faults again when the handler returns. Sending the signal
 * instead would lose information: from any thread but the first, the kernel accepts only what kill()
 * could have sent, and the core dump would lack the address.
 */
static bool comes_again(int number, const siginfo_t *info)
{
    return is_fault(info) &&
           (number == SIGSEGV || number == SIGBUS || number == SIGILL || number == SIGFPE);
}

/* The id must be unique in the process. If the kernel gives none, an id that no thread has. */
static int this_thread(void)
{
    int thread = sfb_kernel_thread();

    return thread > 0 ? thread : -1 - (int)(sfb_arch_thread_pointer() >> 4 & 0x3fffffff);
}

/* @return false: a filter of system calls refused it */
static bool raise_bare(int number)
{
    int process = sfb_kernel_process(), thread = sfb_kernel_thread();

    return sfb_kernel(SYS_tgkill, (uint64_t)process, (uint64_t)(thread > 0 ? thread : process),
                      (uint64_t)number, 0) == 0;
}

/* Raises a signal anew, with its siginfo_t as far as the kernel accepts it. */
static bool raise_again(int number, const siginfo_t *info)
{
    return sfb_kernel(SYS_rt_tgsigqueueinfo, (uint64_t)sfb_kernel_process(),
                      (uint64_t)sfb_kernel_thread(), (uint64_t)number, (uintptr_t)info) == 0 ||
           raise_bare(number);
}

/*
 * Ends the process at once: by the default action of the signal; if that is refused, by an exit; if that
 * is refused too, by a fatal instruction.
 *
 * A filter may answer the return from a signal with another signal. Then each refused call comes here
 * again, further down the stack and again from its top. nesting.c ends that after a few times.
 */
SFB_NO_SANITIZE _Noreturn static void die(int number)
{
    enum { TIMES_MAX = 4 };
    static const int raised[] = { SIGSYS, SIGILL, SIGSEGV, SIGBUS, SIGTRAP };
    static atomic_uint times;

    if (atomic_fetch_add(&times, 1) >= TIMES_MAX)
        sfb_crash_end(sfb_nesting_stack());
    if (sfb_kernel_default(number)) {
        sfb_kernel_mask(SIG_UNBLOCK, sfb_kernel_sigbit(number));
        raise_bare(number);
    }
    sfb_kernel_exit(128 + number);
    /* For a blocked fault the kernel ends the process. */
    sfb_kernel_mask(SIG_BLOCK, ~(uint64_t)0);
    for (size_t i = 0; i < sizeof raised / sizeof *raised; i++)
        sfb_kernel_default(raised[i]);
    sfb_crash_end(sfb_nesting_stack());
}

/* Blocks a signal in the context: from the return of the handler on. */
static void block_afterwards(int number, void *ucontext)
{
    ucontext_t *uc = ucontext;
    uint64_t mask;

    memcpy(&mask, &uc->uc_sigmask, sizeof mask);
    mask |= sfb_kernel_sigbit(number);
    memcpy(&uc->uc_sigmask, &mask, sizeof mask);
}

/*
 * Leaves the process to the default action of a signal, at the interrupted instruction, when the handler
 * returns. Until then the signal is blocked, and so pending.
 *
 * If a filter has refused every system call here, the fault comes again while it is blocked, which also
 * ends the process. (Not always: qemu's user mode waits for ever.)
 */
SFB_NO_SANITIZE static void leave_to_default(int number, const siginfo_t *info, void *ucontext)
{
    bool is_restored;

    is_leaving = true;
    sfb_kernel_mask(SIG_BLOCK, sfb_kernel_sigbit(number));
    is_restored = sfb_kernel_default(number);
    if (!comes_again(number, info)) {
        if (!is_restored || !raise_again(number, info))
            die(number);
    } else if (!is_restored) {
        block_afterwards(number, ucontext);
    }
}

/* Handles a fault inside the handler: goes on with the next part of the report, or ends the process. */
SFB_NO_SANITIZE _Noreturn static void crash_inside(int number, const siginfo_t *info,
                                                   void *ucontext)
{
    const void *frame = __builtin_frame_address(0);
    bool is_overwritten = sfb_nesting_is_overwritten(frame);

    if (is_overwritten)
        sfb_nesting_begin(sfb_nesting_number(), frame, ucontext);
    if (!is_overwritten && !crashed_inside)
        sfb_attempt_fail(number, info, ucontext);
    if (!crashed_inside && !is_leaving) {
        crashed_inside = true;
        sfb_attempt_tell(&text, "the process ends");
        sfb_text_flush(&text);
    }
    die(sfb_nesting_number());
}

/* Tells whether an owner has ended: a child of vfork(), or a thread left behind by fork(), never releases ownership. */
static bool is_gone(int thread)
{
    return sfb_kernel(SYS_tgkill, (uint64_t)sfb_kernel_process(), (uint64_t)thread, 0, 0) == -ESRCH;
}

/* @return false: another thread has been the owner for too long */
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

/*
 * Tells whether the descriptor still leads to the same file: it may have been closed and reused. The
 * kernel's struct stat is libc's on all 64-bit machines.
 *
 * @return false: another file. true also if a filter refuses or fakes the call.
 */
static bool leads_to_file(void)
{
    struct stat status = { .st_dev = sfb_crash.device, .st_ino = sfb_crash.inode };

    return sfb_kernel(SYS_fstat, (uint64_t)sfb_crash.fd, (uintptr_t)&status, 0, 0) != 0 ||
           (status.st_dev == sfb_crash.device && status.st_ino == sfb_crash.inode);
}

/*
 * Resets the owner's state, also after an owner was killed in the middle. If a reader did not read during one
 * report, later ones wait less for it: 16 reports may follow each other.
 */
static void begin(void)
{
    enum { AGAIN_MS = 200 };
    bool has_slept = text.waited_ms >= SFB_TEXT_WAIT_MS - AGAIN_MS;

    crashed_inside = false;
    is_leaving = false;
    sfb_attempts_begin();
    sfb_text_begin(&text, sfb_crash.fd, sfb_crash.fd_waits, sfb_crash.fd_is_terminal);
    if (has_slept)
        text.waited_ms = SFB_TEXT_WAIT_MS - AGAIN_MS;
}

/* Tells whether this is the last crash again, after a previous handler has returned. */
static bool is_same(const struct crash *now)
{
    bool same = now->thread == last.thread && now->number == last.number && now->pc == last.pc &&
                now->address == last.address;

    last = *now;
    return same;
}

/*
 * Counts reports of crashes that a previous handler takes: it may recover from any number of them, and
 * each report takes space. The crash that ends the process always gets its report.
 */
static bool is_within_limit(const struct sigaction *next)
{
    static const char limit[] =
        SFB_CRASH_PREFIX "from now on without a report where a previous handler takes the signal\n";

    if (is_default(next))
        return true;
    if (reports_passed < REPORTS_MAX) {
        reports_passed++;
        return true;
    }
    if (!told_limit) {
        told_limit = true;
        sfb_text_string(&text, limit);
        sfb_text_flush(&text);
    }
    return false;
}

/* @return whether this crash is reported, now or already before */
static bool report(const struct sfb_crash_event *event)
{
    struct sfb_context context;
    struct crash now = { .thread = event->thread,
                         .number = event->number,
                         .address = (uintptr_t)event->info->si_addr };

    sfb_context_from_ucontext(&context, event->ucontext);
    now.pc = context.reg[SFB_ARCH_PC];
    if (is_same(&now))
        return true;
    if (!leads_to_file())
        return true;
    if (!is_within_limit(event->next))
        return false;
    sfb_crash_report(&text, event);
    return true;
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

/*
 * Handles a signal that interrupted the handler, also a filter's SIGSYS.
 *
 * @return false: the handler was another thread's: a child of vfork() that has ended
 */
SFB_NO_SANITIZE static bool interrupt(int number, const siginfo_t *info, void *ucontext)
{
    if (number == SIGSYS && is_fault(info) && info->si_syscall != SYS_rt_sigreturn) {
        sfb_crash_refuse_call(ucontext);
        return true;
    }
    if (sfb_nesting_thread() != 0 && sfb_nesting_thread() != this_thread())
        return false;
    if (is_fault(info))
        crash_inside(number, info, ucontext);
    sfb_nesting_defer(number);
    return true;
}

/* Waits to become the owner. */
SFB_NO_SANITIZE static void enter(int number, int thread)
{
    if (atomic_load(&owner) == thread) {
        if (is_leaving)
            die(number);
        atomic_store(&owner, 0); /* a handler that was installed later has jumped out of a report */
    }
    if (!become_owner(thread))
        die(number);
    begin();
}

/* Releases ownership. Raises the signals deferred during the report. */
static void end(uint32_t deferred)
{
    atomic_store(&owner, 0);
    for (int i = 0; i < SFB_CRASH_SIGNALS; i++)
        if (deferred & (uint32_t)1 << sfb_crash_signals[i])
            raise_bare(sfb_crash_signals[i]);
}

/*
 * Passes a signal on to a previous handler. If that restores the default action and returns, the process
 * ends: then the crash is reported after all.
 */
static void pass(const struct sigaction *action, bool is_reported, struct sfb_crash_event *event,
                 void *ucontext)
{
    const void *frame = __builtin_frame_address(0);
    siginfo_t *info = event->info;
    struct sfb_nesting_pass before;

    before = sfb_nesting_pass();
    end(sfb_nesting_deferred());
    pass_on(action, event->number, info, ucontext);
    sfb_nesting_returned(before);
    if (is_reported)
        return;
    sfb_nesting_begin(event->number, frame, ucontext);
    sfb_nesting_is_of(event->thread);
    if (sfb_kernel_is_default(event->number)) {
        static const struct sigaction by_default; /* which is all zero */

        enter(event->number, event->thread);
        event->next = &by_default;
        last.thread = 0;
        report(event);
        sfb_nesting_end();
        end(sfb_nesting_deferred());
    }
    sfb_nesting_end();
}

SFB_NO_SANITIZE void sfb_crash_handle(int number, siginfo_t *info, void *ucontext)
{
    struct sigaction *previous = previous_of(number);
    struct sfb_crash_event event = { .number = number, .info = info, .ucontext = ucontext };
    struct sigaction action = *previous;
    bool is_reported = true;

    if (sfb_nesting_is_inside(ucontext) && interrupt(number, info, ucontext))
        return;
    if (is_plain(&action, SIG_IGN) && !is_fault(info))
        return;
    /* No system call before this. */
    sfb_nesting_begin(number, __builtin_frame_address(0), ucontext);
    event.thread = this_thread();
    sfb_nesting_is_of(event.thread);
    enter(number, event.thread);
    action = *previous; /* read only now: SA_RESETHAND may have cleared it meanwhile */
    event.process = sfb_kernel_process();
    event.next = &action;
    if (sfb_nesting_is_spent(ucontext)) {
        if (atomic_load(&sfb_crash.active) && leads_to_file())
            sfb_crash_report_spent(&text, &event);
        die(number);
    }
    if (atomic_load(&sfb_crash.active))
        is_reported = report(&event);
    if (is_default(&action)) {
        leave_to_default(number, info, ucontext);
        return;
    }
    if (has_flag(&action, SA_RESETHAND))
        *previous = (struct sigaction){ .sa_flags = 0 };
    pass(&action, is_reported, &event, ucontext);
}
