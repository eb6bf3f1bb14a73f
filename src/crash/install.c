/* Installs and uninstalls the crash handler. None of this runs in the handler. */
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/sized.h"
#include "crash/crash.h"
#include "crash/handler.h"
#include "sframe_backtrace.h"

enum { FRAMES_DEFAULT = 256 };

static atomic_bool installed;
static uint32_t handled; /* signals, as in the options */
static pid_t installer;  /* the thread that was given an alternate stack */

static uint32_t signal_flag(int number)
{
    return (uint32_t)1 << number;
}

static uint32_t all_signals(void)
{
    uint32_t all = 0;

    for (int i = 0; i < SFB_CRASH_SIGNALS; i++)
        all |= signal_flag(sfb_crash_signals[i]);
    return all;
}

static enum sfb_status read_options(struct sframe_backtrace_crash_options *out,
                                    const struct sframe_backtrace_crash_options *in)
{
    enum sfb_status status = SFB_OK;
    bool known;

    *out = (struct sframe_backtrace_crash_options){ .fd = STDERR_FILENO };
    if (in)
        status = sfb_sized_read(out, sizeof *out, in);
    if (status != SFB_OK)
        return status;
    if (out->signals == 0)
        out->signals = all_signals();
    if (out->max_frames == 0)
        out->max_frames = FRAMES_DEFAULT;
    if (out->outermost == 0)
        out->outermost = out->max_frames < 4 * SFRAME_BACKTRACE_CRASH_OUTERMOST_MAX
                             ? out->max_frames / 4
                             : SFRAME_BACKTRACE_CRASH_OUTERMOST_MAX;
    known =
        (out->flags & ~(uint32_t)(SFRAME_BACKTRACE_NO_LIBUNWIND | SFRAME_BACKTRACE_ASYNC)) == 0 &&
        (out->signals & ~all_signals()) == 0 &&
        out->max_frames <= SFRAME_BACKTRACE_CRASH_FRAMES_MAX &&
        out->outermost <= SFRAME_BACKTRACE_CRASH_OUTERMOST_MAX && out->outermost <= out->max_frames;
    return known ? SFB_OK : SFB_BAD_ARGUMENT;
}

/* Copies the options for the handler. @return false: the descriptor is not open */
static bool prepare(const struct sframe_backtrace_crash_options *options)
{
    struct stat status;

    if (fstat(options->fd, &status) != 0)
        return false;
    sfb_crash.fd = options->fd;
    sfb_crash.device = status.st_dev;
    sfb_crash.inode = status.st_ino;
    sfb_crash.fd_is_terminal = S_ISCHR(status.st_mode);
    sfb_crash.fd_waits =
        S_ISFIFO(status.st_mode) || S_ISSOCK(status.st_mode) || sfb_crash.fd_is_terminal;
    sfb_crash.flags = options->flags;
    sfb_crash.max_frames = options->max_frames;
    sfb_crash.outermost = options->outermost;
    return true;
}

/*
 * While the handler runs, all other signals are blocked; handler.c names the ones that cannot be. Each
 * previous handler is recorded before a signal can arrive that must be passed to it. System calls are
 * restarted unless the previous handler interrupted them.
 */
static void handle_signals(uint32_t signals)
{
    struct sigaction action = { .sa_sigaction = sfb_crash_handle,
                                .sa_flags = SA_SIGINFO | SA_ONSTACK | SA_NODEFER };

    sigfillset(&action.sa_mask);
    for (int i = 0; i < SFB_CRASH_SIGNALS; i++)
        sigdelset(&action.sa_mask, sfb_crash_signals[i]);
    for (int i = 0; i < SFB_CRASH_SIGNALS; i++) {
        struct sigaction *previous = &sfb_crash.previous[i];

        if (!(signals & signal_flag(sfb_crash_signals[i])))
            continue;
        sigaction(sfb_crash_signals[i], NULL, previous);
        action.sa_flags &= ~SA_RESTART;
        if (previous->sa_handler == SIG_IGN || (previous->sa_flags & SA_RESTART))
            action.sa_flags |= SA_RESTART;
        sigaction(sfb_crash_signals[i], &action, NULL);
    }
    handled = signals;
}

/* Not inlined: so its copy of the options is off the stack afterwards. */
static __attribute__((noinline)) enum sfb_status use_options(
    uint32_t *signals, const struct sframe_backtrace_crash_options *in)
{
    struct sframe_backtrace_crash_options options;
    enum sfb_status status = read_options(&options, in);

    if (status != SFB_OK)
        return status;
    *signals = options.signals;
    return prepare(&options) ? SFB_OK : SFB_BAD_ARGUMENT;
}

static enum sfb_status install(const struct sframe_backtrace_crash_options *in)
{
    uint32_t signals;
    enum sfb_status status = use_options(&signals, in);

    if (status != SFB_OK)
        return status;
    status = sframe_backtrace_crash_stack(NULL, 0);
    if (status != SFB_OK)
        return status;
    installer = gettid();
    handle_signals(signals);
    atomic_store(&sfb_crash.active, true);
    return SFB_OK;
}

enum sfb_status sframe_backtrace_install_crash_handler(
    const struct sframe_backtrace_crash_options *options)
{
    enum sfb_status status;

    if (atomic_exchange(&installed, true))
        return SFB_BAD_ARGUMENT;
    status = install(options);
    if (status != SFB_OK)
        atomic_store(&installed, false);
    return status;
}

enum sfb_status sframe_backtrace_uninstall_crash_handler(void)
{
    enum sfb_status status = SFB_OK;

    if (!atomic_exchange(&sfb_crash.active, false))
        return SFB_BAD_ARGUMENT;
    for (int i = 0; i < SFB_CRASH_SIGNALS; i++) {
        struct sigaction now;

        if (!(handled & signal_flag(sfb_crash_signals[i])))
            continue;
        sigaction(sfb_crash_signals[i], NULL, &now);
        if ((now.sa_flags & SA_SIGINFO) && now.sa_sigaction == sfb_crash_handle)
            sigaction(sfb_crash_signals[i], &sfb_crash.previous[i], NULL);
        else
            status = SFB_NO_RESOURCE;
    }
    if (installer == gettid())
        sframe_backtrace_release_crash_stack();
    /* With a later handler in between, a second installation would make a loop of the two. */
    if (status == SFB_OK)
        atomic_store(&installed, false);
    return status;
}
