/* The live table at the environment's request: SFB_HEAP_LIVE, SFB_HEAP_FREED, SFB_HEAP_SIGNAL, SFB_HEAP_LOG. */
#include "profiler/agent/live/settings.h"

#include <errno.h>
#include <limits.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "profiler/agent/live/api.h"
#include "profiler/agent/live/exit_report.h"
#include "profiler/agent/live/map.h"

static void say(const char *what, const char *why)
{
    char line[256];
    const int size =
        snprintf(line, sizeof line, "sfb: heap: %s%s%s\n", what, *why ? ": " : "", why);

    if (size > 0 && write(STDERR_FILENO, line, (size_t)size) < 0)
        return;
}

/* "64M". @return 0: invalid */
static uint64_t parse_size(const char *text)
{
    char *end;
    const unsigned long long value = strtoull(text, &end, 10);
    const char *const unit = *end ? strchr("KMG", *end) : NULL;
    const unsigned shift = unit ? 10 * (unsigned)(unit - "KMG" + 1) : 0;

    if (text[0] < '0' || text[0] > '9' || (*end != '\0' && (!unit || end[1] != '\0')))
        return 0;
    return value <= SFB_LIVE_SIZE_MAX >> shift ? (uint64_t)value << shift : UINT64_MAX;
}

/* @return 0: invalid */
static uint32_t parse_count(const char *text)
{
    char *end;
    const unsigned long value = strtoul(text, &end, 10);

    return text[0] >= '0' && text[0] <= '9' && *end == '\0' && value <= SFB_LIVE_FREED_MAX
               ? (uint32_t)value
               : 0;
}

/* "USR2", "SIGUSR2", "12", "RTMIN+3". @return 0: invalid */
static int parse_signal(const char *text)
{
    const char *const name = strncmp(text, "SIG", 3) == 0 ? text + 3 : text;
    const bool is_number = name[0] >= '0' && name[0] <= '9';
    char *end;
    long number = is_number ? strtol(name, &end, 10) : 0;

    if (is_number)
        return *end == '\0' && number > 0 && number < NSIG ? (int)number : 0;
    if (strncmp(name, "RTMIN", 5) == 0) {
        number = strtol(name + 5, &end, 10);
        return *end == '\0' && number >= 0 && SIGRTMIN + number <= SIGRTMAX ? SIGRTMIN + (int)number
                                                                            : 0;
    }
    for (int i = 1; i < NSIG; i++) {
        const char *known = sigabbrev_np(i);

        if (known && strcmp(known, name) == 0)
            return i;
    }
    return 0;
}

bool sfb_live_start_by_environment(void)
{
    static char log[PATH_MAX]; /* a copy: the program may change its environment */
    const char *live = getenv("SFB_HEAP_LIVE"), *number = getenv("SFB_HEAP_SIGNAL"),
               *file = getenv("SFB_HEAP_LOG"), *freed = getenv("SFB_HEAP_FREED");
    struct sframe_backtrace_heap_options options = SFRAME_BACKTRACE_HEAP_OPTIONS_INIT;
    enum sfb_status status;

    if (!live || !*live)
        return false;
    options.live = parse_size(live);
    options.freed = freed && *freed ? parse_count(freed) : 0;
    options.dump_signal = number && *number ? parse_signal(number) : 0;
    if (options.live < SFB_LIVE_SIZE_MIN || options.live > SFB_LIVE_SIZE_MAX) {
        say("SFB_HEAP_LIVE is not a size from 2M to 4G: no live table", live);
        return false;
    }
    if (freed && *freed && options.freed == 0)
        say("SFB_HEAP_FREED is not a number of blocks from 1 to 1048576", freed);
    if (number && *number && options.dump_signal == 0)
        say("SFB_HEAP_SIGNAL is not a signal", number);
    if (file && *file)
        snprintf(log, sizeof log, "%s", file);
    status = sfb_live_begin(&options, log[0] ? log : NULL);
    if (status != SFB_OK) {
        say("no live table", status == SFB_NO_RESOURCE ? strerror(errno) : "");
        return false;
    }
    sfb_live_exit_report_begin();
    if (sfb_live_map_path()[0] == '\0')
        say("no file can be made in $XDG_RUNTIME_DIR or " SFB_LIVE_FOLDER
            ": the live table is private, and sfb ctl does not see it",
            "");
    return true;
}
