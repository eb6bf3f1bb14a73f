/*
 * The agent with a second opinion: of every so many samples, libunwind walks the same stack, in the same handler, and
 * the two are compared frame by frame. It is the agent that is installed, with this file around its sampler (--wrap).
 *
 * SFB_AGENT_CHECK names the file to which each process appends a line at its end: how many stacks were compared, how
 * many were identical, in how many libunwind passed over a rule for sp (then it is wrong, and known to be), and the
 * first one that differs. SFB_AGENT_CHECK_EVERY: 100, or another number.
 */
#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <pthread.h>
#include <signal.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "oracles/loaded.h"
#include "profiler/agent/cpu/cpu_sample.h"
#include "sframe_backtrace.h"

/* The linker's names for them. NOLINTBEGIN(bugprone-reserved-identifier) */
void __real_sfb_sample_take(struct sfb_thread *thread, enum sfb_recording_engine engine,
                            const void *context);
void __wrap_sfb_sample_take(struct sfb_thread *thread, enum sfb_recording_engine engine,
                            const void *context);
/* NOLINTEND(bugprone-reserved-identifier) */

enum { EXAMPLE_FRAMES = 6 };

static const struct oracle *oracle;
static atomic_ulong samples, compared, identical, sp_rules;
static unsigned long every = 100;

/* One walk at a time: what it needs is large. */
static atomic_flag busy = ATOMIC_FLAG_INIT;
static struct oracle_state state;
static struct stack ours, theirs;
static uint8_t cbf[CBF_SIZE];

static struct {
    uint64_t ours[EXAMPLE_FRAMES], theirs[EXAMPLE_FRAMES];
    size_t first;
    uint64_t lookup; /* of the last frame that they have in common */
    bool is_there;
} example;

static void keep_example(void)
{
    const size_t first = stack_first_difference(&ours, &theirs), from = first > 2 ? first - 2 : 0;

    example.is_there = true;
    example.first = first;
    for (size_t i = 0; i < EXAMPLE_FRAMES; i++) {
        example.ours[i] = from + i < ours.count ? ours.address[from + i] : 0;
        example.theirs[i] = from + i < theirs.count ? theirs.address[from + i] : 0;
    }
    if (first > 0)
        example.lookup = stack_lookup_address(&ours, first - 1);
}

static void compare(void *context)
{
    const struct sframe_backtrace_options options = { .size = sizeof options,
                                                      .context = context,
                                                      .flags = SFRAME_BACKTRACE_NO_LIBUNWIND,
                                                      .max_frames = FRAMES_MAX };
    struct sframe_backtrace_info info = { .size = sizeof info };
    const ssize_t size = sframe_backtrace_cbf(cbf, sizeof cbf, &options, &info);

    oracle_walk(oracle, &state, &theirs, context);
    atomic_fetch_add(&compared, 1);
    if (size > 0 && stack_decode(&ours, cbf, (size_t)size, info.end) && stack_same(&ours, &theirs))
        atomic_fetch_add(&identical, 1);
    else if (theirs.sp_rule)
        atomic_fetch_add(&sp_rules, 1);
    else if (!example.is_there)
        keep_example();
}

void __wrap_sfb_sample_take(struct sfb_thread *thread, enum sfb_recording_engine engine,
                            const void *context)
{
    sigset_t faults, before;

    __real_sfb_sample_take(thread, engine, context);
    if (!oracle || atomic_fetch_add(&samples, 1) % every != 0 || atomic_flag_test_and_set(&busy))
        return;
    sigemptyset(&faults);
    sigaddset(&faults, SIGSEGV);
    sigaddset(&faults, SIGBUS);
    sigprocmask(SIG_UNBLOCK, &faults, &before);
    compare((void *)(uintptr_t)context);
    sigprocmask(SIG_SETMASK, &before, NULL);
    atomic_flag_clear(&busy);
}

/* The file of counts, opened before the program gives up the right to open any (xz does); -1: it is not. */
static int counts = -1;
static struct stat counts_are;

static void open_counts(const char *path)
{
    counts = open(path, O_WRONLY | O_CREAT | O_APPEND | O_CLOEXEC, 0666);
    if (counts >= 0 && fstat(counts, &counts_are) != 0)
        counts = -1;
}

/* A program may close all descriptors, and have a file of its own in the place. */
static bool are_counts_open(void)
{
    struct stat now;

    return counts >= 0 && fstat(counts, &now) == 0 && now.st_dev == counts_are.st_dev &&
           now.st_ino == counts_are.st_ino;
}

/* A fault that is not the oracle's happens anew, and ends the program. */
static void on_fault(int number)
{
    oracle_fault(state.in_oracle ? &state : NULL);
    signal(number, SIG_DFL);
}

static void begin_anew(void)
{
    atomic_store(&samples, 0);
    atomic_store(&compared, 0);
    atomic_store(&identical, 0);
    atomic_store(&sp_rules, 0);
    example.is_there = false;
    atomic_flag_clear(&busy);
}

__attribute__((constructor)) static void start(void)
{
    const struct sigaction action = { .sa_handler = on_fault, .sa_flags = SA_NODEFER };
    const char *text = getenv("SFB_AGENT_CHECK_EVERY"), *path = getenv("SFB_AGENT_CHECK");

    if (!path)
        return;
    open_counts(path);
    if (text && atol(text) > 0)
        every = (unsigned long)atol(text);
    sigaction(SIGSEGV, &action, NULL);
    sigaction(SIGBUS, &action, NULL);
    pthread_atfork(NULL, NULL, begin_anew);
    oracle = oracle_load("libunwind");
}

static int write_example(char *to, size_t size)
{
    char name[256];
    int used = 0;

    if (!example.is_there)
        return 0;
    oracle_name(name, sizeof name, example.lookup);
    used += snprintf(to, size, "; frame %zu, behind %s:", example.first, name);
    for (size_t i = 0; i < EXAMPLE_FRAMES && used > 0 && (size_t)used < size; i++)
        used += snprintf(to + used, size - (size_t)used, " %" PRIx64 "/%" PRIx64, example.ours[i],
                         example.theirs[i]);
    return used;
}

__attribute__((destructor)) static void write_counts(void)
{
    const char *path = getenv("SFB_AGENT_CHECK");
    char line[1024];
    int size;

    if (!path || !oracle || atomic_load(&compared) == 0)
        return;
    if (!are_counts_open())
        open_counts(path);
    if (counts < 0)
        return;
    size = snprintf(line, sizeof line, "%lu compared, %lu identical, %lu sp rules",
                    atomic_load(&compared), atomic_load(&identical), atomic_load(&sp_rules));
    size += write_example(line + size, sizeof line - (size_t)size - 1);
    if ((size_t)size > sizeof line - 2)
        size = sizeof line - 2;
    line[size++] = '\n';
    if (write(counts, line, (size_t)size) != size)
        perror("SFB_AGENT_CHECK");
}
