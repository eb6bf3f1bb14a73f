#include "profiler/agent/cpu/prof_signal.h"

#include <errno.h>
#include <string.h>
#include <sys/syscall.h>
#include <ucontext.h>
#include <unistd.h>

#include "profiler/agent/cpu/alternate.h"
#include "profiler/agent/cpu/cpu_sample.h"
#include "profiler/agent/cpu/prof_action.h"
#include "profiler/agent/cpu/thread.h"
#include "profiler/agent/machine.h"
#include "profiler/agent/real.h"
#include "profiler/agent/space.h"

#include "profiler/agent/cpu/thread_life.h"

static pid_t installed_in; /* pid of the process with our handler; 0: not installed */

/* Signals of the agent carry the address of the thread's struct sfb_thread as their value. */
static struct sfb_thread *thread_of(const siginfo_t *info)
{
    const uintptr_t at = (uintptr_t)info->si_value.sival_ptr, base = (uintptr_t)sfb_agent.threads;

    if (at < base + sfb_space.rings.first * sizeof(struct sfb_thread) ||
        at >= base + sfb_space.rings.end * sizeof(struct sfb_thread))
        return NULL;
    return info->si_value.sival_ptr;
}

/* A signal without data and sender: the kernel had no memory for them. */
static bool is_empty(const siginfo_t *info)
{
    return info->si_code == SI_USER && info->si_pid == 0;
}

static bool has_lost_notice(const siginfo_t *info)
{
    struct sfb_thread *t;

    if (!is_empty(info) || !sfb_agent_is_here())
        return false;
    t = sfb_thread_own();
    if (!t)
        t = sfb_thread_of((pid_t)syscall(SYS_gettid));
    return t && __atomic_exchange_n(&t->notified, 0, __ATOMIC_ACQ_REL);
}

/* The other members are valid once the state is not NONE: another thread may have made this one's timer. */
static enum sfb_thread_state state_of(const struct sfb_thread *t)
{
    return (enum sfb_thread_state)__atomic_load_n(&t->state, __ATOMIC_ACQUIRE);
}

/* The engine that sent a signal; NONE: the signal is the program's. */
static enum sfb_recording_engine engine_of(const siginfo_t *info)
{
    if (info->si_code >= POLL_IN && info->si_code <= POLL_HUP)
        /* These codes for SIGPROF come only from F_SETSIG, and only the recorder sets it. */
        return sfb_agent_shared() && !sfb_agent_may_use(SFB_ENGINE_PERF) ? SFB_ENGINE_PERF_USER
                                                                         : SFB_ENGINE_PERF;
    if (info->si_code == SI_TIMER && thread_of(info))
        return SFB_ENGINE_TIMER;
    if ((info->si_code == SI_QUEUE && thread_of(info)) || has_lost_notice(info))
        return SFB_ENGINE_SAMPLER;
    return SFB_ENGINE_NONE;
}

/*
 * For a thread made before the agent was loaded, or without pthread_create(). Its exit is not watched: it may be unknown
 * to the C library.
 */
static struct sfb_thread *find_thread(const siginfo_t *info)
{
    struct sfb_thread *t = thread_of(info);
    pid_t tid = (pid_t)syscall(SYS_gettid);

    if (!sfb_agent_is_here() || sfb_agent_is_over())
        return NULL;
    if (!t || state_of(t) == SFB_THREAD_NONE || t->tid != tid)
        t = sfb_thread_of(tid);
    if (!t)
        return sfb_thread_begin(0);
    sfb_thread_local.thread = t;
    return t;
}

/*
 * Whether the signal is for t's thread, and not for a thread of clone() that shares its thread-local storage. A timer's
 * signal names its thread, and so does one of an event that the recorder has named. For others the kernel gives the tid.
 */
static bool is_of(const struct sfb_thread *t, enum sfb_recording_engine engine,
                  const siginfo_t *info)
{
    if (engine == SFB_ENGINE_TIMER)
        return t == thread_of(info);
    if (engine != SFB_ENGINE_SAMPLER && t->ring &&
        (uint32_t)info->si_fd + 1 == __atomic_load_n(&t->ring->event_fd, __ATOMIC_RELAXED))
        return true;
    return t->tid == (pid_t)syscall(SYS_gettid);
}

static void take(enum sfb_recording_engine engine, const siginfo_t *info, const void *context)
{
    struct sfb_thread_local *local = &sfb_thread_local;
    struct sfb_thread *t = sfb_thread_own();

    if (local->busy) {
        /* While the ring begins or ends nothing is lost: the CPU time is in the next sample, or in the rest. */
        if (t && state_of(t) == SFB_THREAD_LIVE && !sfb_agent_is_over())
            __atomic_fetch_add(&t->ring->lost[SFB_LOSS_NESTED], 1, __ATOMIC_RELAXED);
        return;
    }
    if ((!t && !local->gone) || (t && state_of(t) == SFB_THREAD_NONE))
        t = find_thread(info);
    if (t && is_of(t, engine, info))
        sfb_sample_take(t, engine, context);
}

static bool others_wait(const ucontext_t *context)
{
    uint64_t waiting = 0, blocked;

    memcpy(&blocked, &context->uc_sigmask, sizeof blocked);
    return syscall(SYS_rt_sigpending, &waiting, sizeof waiting) != 0 || (waiting & ~blocked) != 0;
}

/*
 * The sampler's signal may interrupt a thread that is entering the kernel. A call that returned EINTR only because of it
 * is restarted. Not if another signal may be the reason: a pending one, or one whose handler has just returned.
 */
static void repair_call(ucontext_t *context)
{
    struct sfb_thread *t = sfb_thread_own();

    if (__atomic_load_n(&sfb_agent.handlers_block, __ATOMIC_RELAXED) || others_wait(context))
        return;
    if (sfb_machine_restart_call(context) == SFB_CALL_INTERRUPTED && t)
        __atomic_fetch_add(&t->ring->lost[SFB_LOSS_INTERRUPTED], 1, __ATOMIC_RELAXED);
}

static void on_sample(enum sfb_recording_engine engine, const siginfo_t *info, void *context)
{
    if (!sfb_agent_shared() || __atomic_load_n(&sfb_agent.left_alone, __ATOMIC_RELAXED))
        return;
    sfb_agent_enter();
    take(engine, info, context);
    if (engine == SFB_ENGINE_SAMPLER)
        repair_call(context);
    sfb_agent_leave();
}

/* --- the program's own ------------------------------------------------------------------------ */

static bool has_handler(const struct sigaction *action)
{
    return action->sa_flags & SA_SIGINFO ||
           (action->sa_handler != SIG_DFL && action->sa_handler != SIG_IGN);
}

/* Ends the process as without the agent: the signal arrives again when the handler returns. */
static void die(int signo, siginfo_t *info, ucontext_t *context)
{
    const struct sigaction none = { .sa_handler = SIG_DFL };

    sfb_real()->sigaction(signo, &none, NULL);
    sigdelset(&context->uc_sigmask, signo);
    if (syscall(SYS_rt_tgsigqueueinfo, getpid(), syscall(SYS_gettid), signo, info) != 0)
        syscall(SYS_tgkill, getpid(), syscall(SYS_gettid), signo);
}

/* Signals that came while the program had SIGPROF blocked are merged into one, as in the kernel. */
void sfb_prof_signal_raise_what_waits(void)
{
    if (!sfb_thread_local.waits)
        return;
    sfb_thread_local.waits = false;
    syscall(SYS_tgkill, getpid(), syscall(SYS_gettid), SIGPROF);
}

/*
 * Calls the program's handler with the mask that it would have without the agent. It may change the mask; afterwards the
 * old one holds again, as if the kernel had restored it.
 */
static void call(const struct sigaction *action, int signo, siginfo_t *info, ucontext_t *context)
{
    struct sfb_thread_local *local = &sfb_thread_local;
    bool blocks = local->blocks;
    sigset_t mask = context->uc_sigmask;

    sigorset(&mask, &mask, &action->sa_mask);
    if (!(action->sa_flags & SA_NODEFER))
        sigaddset(&mask, signo);
    sfb_real()->pthread_sigmask(SIG_SETMASK, &mask, NULL);
    if (action->sa_flags & SA_SIGINFO)
        action->sa_sigaction(signo, info, context);
    else
        action->sa_handler(signo);
    local->blocks = blocks;
    if (!blocks)
        sfb_prof_signal_raise_what_waits();
}

static void pass_on(int signo, siginfo_t *info, ucontext_t *context)
{
    struct sigaction action;

    sfb_prof_action_get(&action);
    if (sfb_thread_local.blocks) {
        sfb_thread_local.waits = true;
        return;
    }
    if (!has_handler(&action)) {
        /* An empty signal may be a late one of the sampler: its thread has already taken the note, or has ended. */
        if (action.sa_handler == SIG_DFL &&
            !(is_empty(info) && __atomic_load_n(&sfb_agent.has_notified, __ATOMIC_RELAXED)))
            die(signo, info, context);
        return;
    }
    if (action.sa_flags & (int)SA_RESETHAND) {
        const struct sigaction none = { .sa_handler = SIG_DFL };

        sfb_prof_action_set(&none);
    }
    call(&action, signo, info, context);
}

/* A thread not made by the C library: it is not sampled; all its CPU time counts as unsampled. */
static void without_storage(int signo, siginfo_t *info, ucontext_t *context)
{
    struct sigaction action;

    if ((info->si_code >= POLL_IN && info->si_code <= POLL_HUP) || thread_of(info))
        return;
    sfb_prof_action_get(&action);
    if (action.sa_flags & SA_SIGINFO)
        action.sa_sigaction(signo, info, context);
    else if (has_handler(&action))
        action.sa_handler(signo);
}

static void on_signal(int signo, siginfo_t *info, void *context)
{
    enum sfb_recording_engine engine;
    int saved_errno;

    if (!sfb_machine_is_libc_thread()) {
        without_storage(signo, info, context);
        return;
    }
    saved_errno = errno;
    engine = engine_of(info);

    if (engine != SFB_ENGINE_NONE)
        on_sample(engine, info, context);
    else
        pass_on(signo, info, context);
    errno = saved_errno;
}

/* --- installing ------------------------------------------------------------------------------- */

/* The handler runs with all signals but faults blocked: it is not interrupted. */
static bool install(struct sigaction *old)
{
    static const int faults[] = { SIGSEGV, SIGBUS, SIGILL, SIGFPE, SIGTRAP, SIGSYS, SIGABRT };
    struct sigaction action = { .sa_flags = SA_SIGINFO | SA_RESTART };

    if (sfb_alternate_may_be_used())
        action.sa_flags |= SA_ONSTACK;

    action.sa_sigaction = on_signal;
    sigfillset(&action.sa_mask);
    for (size_t i = 0; i < sizeof faults / sizeof *faults; i++)
        sigdelset(&action.sa_mask, faults[i]);
    return sfb_real()->sigaction(SIGPROF, &action, old) == 0;
}

static void only_prof(sigset_t *out)
{
    sigemptyset(out);
    sigaddset(out, SIGPROF);
}

bool sfb_prof_signal_install(void)
{
    struct sigaction old;
    stack_t alternate;

    bool again = sfb_prof_signal_is_ours(SIGPROF);

    if (sfb_real()->sigaltstack(NULL, &alternate) == 0)
        sfb_alternate_look(&alternate); /* one set before the agent began */
    if (!install(&old))
        return false;
    if (old.sa_sigaction != on_signal)
        sfb_prof_action_set(&old);
    installed_in = getpid();
    sfb_prof_signal_begin_thread(again && sfb_thread_local.blocks);
    return true;
}

void sfb_prof_signal_take_back(void)
{
    static struct sigaction before; /* the program's, while profil() has the signal */
    static bool profiled;
    const int saved_errno = errno;
    struct sigaction found;

    if (!sfb_prof_signal_is_ours(SIGPROF) || !install(&found))
        return;
    if (found.sa_sigaction != on_signal) {
        if (!profiled)
            sfb_prof_action_get(&before);
        sfb_prof_action_set(&found);
        profiled = true;
    } else if (profiled) {
        sfb_prof_action_set(&before);
        profiled = false;
    }
    errno = saved_errno;
}

void sfb_prof_signal_leave_alternate(void)
{
    int saved_errno = errno;

    install(NULL);
    errno = saved_errno;
}

void sfb_prof_signal_uninstall(void)
{
    struct sigaction action;
    sigset_t prof;

    sfb_prof_action_get(&action);
    only_prof(&prof);
    if (sfb_thread_local.blocks)
        sfb_real()->pthread_sigmask(SIG_BLOCK, &prof, NULL);
    sfb_real()->sigaction(SIGPROF, &action, NULL);
    installed_in = 0;
}

void sfb_prof_signal_continue_in_child(void)
{
    if (installed_in && !sfb_agent.left_alone)
        installed_in = getpid();
    sfb_thread_local.waits = false; /* a child has no pending signals */
}

bool sfb_prof_signal_is_ours(int signo)
{
    return signo == SIGPROF && installed_in && (sfb_agent.left_alone || getpid() == installed_in);
}

/* --- what the program sees -------------------------------------------------------------------- */

void sfb_prof_signal_action(const struct sigaction *action, struct sigaction *old)
{
    struct sigaction before;

    sfb_prof_action_get(&before);
    if (action)
        sfb_prof_action_set(action);
    if (old)
        *old = before;
}

static bool interrupts_calls;

void sfb_prof_signal_interrupt(bool interrupts)
{
    struct sigaction action;

    sfb_prof_action_get(&action);
    action.sa_flags &= ~SA_RESTART;
    action.sa_flags |= interrupts ? 0 : SA_RESTART;
    sfb_prof_action_set(&action);
    interrupts_calls = interrupts;
}

int sfb_prof_signal_restart_flag(void)
{
    return interrupts_calls ? 0 : SA_RESTART;
}

int sfb_prof_signal_mask(int how, const sigset_t *set, sigset_t *old,
                         int (*mask)(int, const sigset_t *, sigset_t *))
{
    struct sfb_thread_local *local = &sfb_thread_local;
    bool before = local->blocks, named = set && sigismember(set, SIGPROF) == 1;
    sigset_t without;
    int result;

    if (named && how != SIG_UNBLOCK) {
        without = *set;
        sigdelset(&without, SIGPROF);
        set = &without;
    }
    result = mask(how, set, old);
    if (result != 0)
        return result;
    if (old && before)
        sigaddset(old, SIGPROF);
    if (set && (named || how == SIG_SETMASK)) {
        local->blocks = named && how != SIG_UNBLOCK;
        if (!local->blocks)
            sfb_prof_signal_raise_what_waits();
    }
    return 0;
}

void sfb_prof_signal_begin_thread(bool blocks)
{
    sigset_t prof, old;

    only_prof(&prof);
    sfb_thread_local.blocks = (sfb_real()->pthread_sigmask(SIG_UNBLOCK, &prof, &old) == 0 &&
                               sigismember(&old, SIGPROF)) ||
                              blocks;
}

static void change(int how)
{
    int saved_errno = errno;
    sigset_t prof;

    only_prof(&prof);
    sfb_real()->pthread_sigmask(how, &prof, NULL);
    errno = saved_errno;
}

bool sfb_prof_signal_hold(void)
{
    bool holds = installed_in && sfb_thread_local.blocks;

    if (holds)
        change(SIG_BLOCK);
    return holds;
}

void sfb_prof_signal_release(void)
{
    change(SIG_UNBLOCK);
}

void sfb_prof_signal_before_exec(void)
{
    const struct sigaction ignore = { .sa_handler = SIG_IGN };
    sigset_t prof;

    only_prof(&prof);
    if (sfb_thread_local.blocks)
        sfb_real()->pthread_sigmask(SIG_BLOCK, &prof, NULL);
    sfb_real()->sigaction(SIGPROF, &ignore, NULL);
}

void sfb_prof_signal_after_exec(void)
{
    sigset_t prof;

    only_prof(&prof);
    install(NULL);
    if (sfb_thread_local.blocks)
        sfb_real()->pthread_sigmask(SIG_UNBLOCK, &prof, NULL);
}
