/* Installs the crash handler and takes it away again: nothing of this runs in it. */
#include <string.h>
#include <sys/auxv.h>
#include <sys/stat.h>
#include <unistd.h>

#include "crash/crash.h"
#include "sframe_backtrace.h"

const int sfb_crash_signals[SFB_CRASH_SIGNALS] = { SIGSEGV, SIGBUS,  SIGILL, SIGFPE,
                                                   SIGABRT, SIGTRAP, SIGSYS };

struct sfb_crash sfb_crash;

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

/* @return false: they are not to be understood */
static bool read_options(struct sframe_backtrace_crash_options *out,
                         const struct sframe_backtrace_crash_options *in)
{
    enum { SIZE_MAX_EVER = 4096 };
    const uint8_t *bytes = (const uint8_t *)in;

    *out = (struct sframe_backtrace_crash_options){ .fd = STDERR_FILENO };
    if (in) {
        if (in->size < sizeof *in || in->size > SIZE_MAX_EVER)
            return false;
        for (size_t i = sizeof *in; i < in->size; i++)
            if (bytes[i] != 0)
                return false;
        *out = *in;
    }
    if (out->signals == 0)
        out->signals = all_signals();
    if (out->max_frames == 0)
        out->max_frames = FRAMES_DEFAULT;
    if (out->outermost == 0)
        out->outermost = out->max_frames < 4 * SFRAME_BACKTRACE_CRASH_OUTERMOST_MAX
                             ? out->max_frames / 4
                             : SFRAME_BACKTRACE_CRASH_OUTERMOST_MAX;
    return (out->flags & ~(uint32_t)SFRAME_BACKTRACE_NO_LIBUNWIND) == 0 &&
           (out->signals & ~all_signals()) == 0 &&
           out->max_frames <= SFRAME_BACKTRACE_CRASH_FRAMES_MAX &&
           out->outermost <= SFRAME_BACKTRACE_CRASH_OUTERMOST_MAX &&
           out->outermost <= out->max_frames;
}

/* Without /proc, the program's path is what execve() was given. */
static void find_program(void)
{
    const char *name = (const char *)getauxval(AT_EXECFN); /* NOLINT(performance-no-int-to-ptr) */
    ssize_t size = readlink("/proc/self/exe", sfb_crash.program, sizeof sfb_crash.program - 1);

    memset(sfb_crash.program + (size > 0 ? size : 0), 0,
           sizeof sfb_crash.program - (size_t)(size > 0 ? size : 0));
    if (size <= 0 && name)
        memcpy(sfb_crash.program, name, strnlen(name, sizeof sfb_crash.program - 1));
}

/* Takes over what the handler goes by. @return false: there is no such descriptor */
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
    find_program();
    return true;
}

/*
 * All signals that can wait do; see handler.c for those that cannot. What was there before is known
 * before anything can come that has to be passed on. System calls are interrupted for good if they
 * were before.
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

static enum sfb_status install(const struct sframe_backtrace_crash_options *in)
{
    struct sframe_backtrace_crash_options options;
    enum sfb_status status;

    if (!read_options(&options, in) || !prepare(&options))
        return SFB_BAD_ARGUMENT;
    status = sframe_backtrace_crash_stack(NULL, 0);
    if (status != SFB_OK)
        return status;
    installer = gettid();
    handle_signals(options.signals);
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
    /* With a handler in between, to install it again would make a loop of the two. */
    if (status == SFB_OK)
        atomic_store(&installed, false);
    return status;
}
