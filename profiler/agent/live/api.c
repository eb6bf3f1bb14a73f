/* The live table at the program's request, and dumps by a signal. */
#include "profiler/agent/live/api.h"

#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <string.h>
#include <unistd.h>

#include "base/sized.h"
#include "profiler/agent/interpose.h"
#include "profiler/agent/live/block_find.h"
#include "profiler/agent/live/dump.h"
#include "profiler/agent/live/live.h"
#include "profiler/agent/live/map.h"

#define LIVE_DEFAULT ((uint64_t)64 << 20)

static struct {
    int fd;
    const char *log; /* NULL: fd */
    bool check;
    int signal; /* 0: no dumps by a signal */
} dumps = { .fd = STDERR_FILENO };

static const struct sfb_live_hooks *hooks;

void sfb_live_use_hooks(const struct sfb_live_hooks *given)
{
    hooks = given;
}

/* --- by a signal ---------------------------------------------------------------------------------- */

static void on_signal(int number)
{
    const int saved = errno;
    int fd = dumps.fd;

    (void)number;
    if (dumps.log)
        fd = open(dumps.log, O_WRONLY | O_CREAT | O_APPEND | O_CLOEXEC | O_NOCTTY, 0600);
    if (fd >= 0)
        sfb_live_dump(fd, dumps.check);
    if (dumps.log && fd >= 0)
        close(fd);
    errno = saved;
}

/* @return false: the kernel refuses, or the program has a handler already */
static bool install(int number)
{
    struct sigaction action = { .sa_handler = on_signal, .sa_flags = SA_RESTART }, before;

    sigfillset(&action.sa_mask);
    if (sigaction(number, NULL, &before) != 0)
        return false;
    if (before.sa_handler != SIG_DFL && before.sa_handler != SIG_IGN &&
        before.sa_handler != on_signal) {
        errno = EBUSY;
        return false;
    }
    return sigaction(number, &action, NULL) == 0;
}

static void uninstall(void)
{
    const struct sigaction none = { .sa_handler = SIG_DFL };
    struct sigaction now;

    if (dumps.signal != 0 && sigaction(dumps.signal, NULL, &now) == 0 &&
        now.sa_handler == on_signal)
        sigaction(dumps.signal, &none, NULL);
    dumps.signal = 0;
}

/* --- by the program ------------------------------------------------------------------------------- */

static enum sfb_status check(const struct sframe_backtrace_heap_options *given,
                             struct sframe_backtrace_heap_options *out)
{
    static const struct sframe_backtrace_heap_options none = SFRAME_BACKTRACE_HEAP_OPTIONS_INIT;
    const enum sfb_status status = sfb_sized_read(out, sizeof *out, given ? given : &none);

    if (status != SFB_OK)
        return status;
    if (out->flags & ~(uint32_t)(SFRAME_BACKTRACE_HEAP_NO_FILE | SFRAME_BACKTRACE_HEAP_NO_CHILDREN |
                                 SFRAME_BACKTRACE_HEAP_CHECK_TAILS))
        return SFB_BAD_ARGUMENT;
    if (out->live == 0)
        out->live = LIVE_DEFAULT;
    return out->live >= SFB_LIVE_SIZE_MIN && out->live <= SFB_LIVE_SIZE_MAX &&
                   out->freed <= SFB_LIVE_FREED_MAX && out->dump_signal >= 0 &&
                   out->dump_signal < NSIG
               ? SFB_OK
               : SFB_BAD_ARGUMENT;
}

enum sfb_status sfb_live_begin(const struct sframe_backtrace_heap_options *options, const char *log)
{
    const struct sfb_live_how how = { options->live, options->freed,
                                      (options->flags & SFRAME_BACKTRACE_HEAP_NO_FILE) != 0,
                                      (options->flags & SFRAME_BACKTRACE_HEAP_NO_CHILDREN) != 0 };

    if (sfb_live_is_on() || (hooks && !hooks->begin()))
        return SFB_BAD_ARGUMENT;
    dumps.fd = options->dump_fd;
    dumps.log = log;
    dumps.check = (options->flags & SFRAME_BACKTRACE_HEAP_CHECK_TAILS) != 0;
    if (options->dump_signal == 0 || install(options->dump_signal)) {
        dumps.signal = options->dump_signal;
        if (sfb_live_start(&how))
            return SFB_OK;
        uninstall();
    }
    if (hooks)
        hooks->end();
    return SFB_NO_RESOURCE;
}

SFB_INTERPOSED enum sfb_status sframe_backtrace_heap_start(
    const struct sframe_backtrace_heap_options *options)
{
    struct sframe_backtrace_heap_options copy;
    const enum sfb_status status = check(options, &copy);

    return status == SFB_OK ? sfb_live_begin(&copy, NULL) : status;
}

SFB_INTERPOSED enum sfb_status sframe_backtrace_heap_stop(void)
{
    if (!sfb_live_is_on())
        return SFB_BAD_ARGUMENT;
    uninstall();
    sfb_live_stop();
    if (hooks)
        hooks->end();
    return SFB_OK;
}

SFB_INTERPOSED enum sfb_status sframe_backtrace_heap_dump(int fd, uint32_t flags)
{
    if (fd < 0 || flags & ~(uint32_t)SFRAME_BACKTRACE_HEAP_CHECK_TAILS)
        return SFB_BAD_ARGUMENT;
    return sfb_live_dump(fd, (flags & SFRAME_BACKTRACE_HEAP_CHECK_TAILS) != 0);
}

SFB_INTERPOSED const char *sframe_backtrace_heap_file(void)
{
    return sfb_live_is_on() ? sfb_live_map_path() : "";
}

SFB_INTERPOSED enum sfb_status sframe_backtrace_heap_find(
    const uint64_t *addresses, size_t count,
    void (*visit)(void *, size_t, const struct sframe_backtrace_heap_block *), void *user)
{
    return sfb_live_find(addresses, count, visit, user);
}
