/*
 * A capture that a signal interrupts, at each of its instructions: the handler's own capture is
 * whole, and the one that was interrupted comes to what it would have come to. In a child of
 * fork(), made there, too.
 */
#include <execinfo.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#include "support/compiler.h"
#include "support/test.h"
#include "support/trace.h"
#include "support/trap_flag.h"

enum { DEPTH = 12, FRAMES = 100, FORK_EVERY = 97 };

/* What is interrupted, and does in the handler what it does outside. */
struct way {
    const char *name;
    bool addresses, with_memo;
    uint32_t outermost, skip;
};

static const struct way ways[] = {
    { .name = "cbf" },
    { .name = "cbf, memo", .with_memo = true },
    { .name = "cbf, both ends", .outermost = 4 },
    { .name = "cbf, skip", .skip = 3 },
    { .name = "addresses", .addresses = true },
    { .name = "addresses, memo", .addresses = true, .with_memo = true },
};

static const struct way *way;
static union {
    uint64_t align;
    uint8_t bytes[SFRAME_BACKTRACE_MEMO_SIZE(FRAMES)];
} memo;

static volatile int sink;
static unsigned traps, wrong, forks, wrong_children;
static struct trace intact; /* the stack of what is interrupted, from its caller outwards */
static struct trace nested, outer;

/* A capture in this way. */
static void capture(struct trace *out, const void *context)
{
    struct sframe_backtrace_options options = { .size = sizeof options,
                                                .context = context,
                                                .outermost = way->outermost,
                                                .max_frames = way->outermost ? FRAMES : 0,
                                                .skip = way->skip,
                                                .memo = way->with_memo ? memo.bytes : NULL,
                                                .memo_size = sizeof memo };
    uint8_t bytes[1024];
    void *all[FRAMES];
    struct sframe_backtrace_info info = { .size = sizeof info };
    ssize_t got;

    if (!way->addresses) {
        trace_decode(out, bytes, sframe_backtrace_cbf(bytes, sizeof bytes, &options, NULL));
        return;
    }
    got = sframe_backtrace_addresses(all, FRAMES, &options, &info);
    out->error = got > 0 ? SFB_OK : info.end;
    out->end = info.end == SFB_END;
    out->count = got > 0 ? (size_t)got : 0;
    for (size_t i = 0; i < out->count; i++)
        out->address[i] = (uintptr_t)all[i];
}

/* Whether a stack ends in the frames of the other, but for its innermost. */
static bool ends_alike(const struct trace *t, const struct trace *with, size_t innermost)
{
    size_t count = with->count - innermost;

    return t->error == SFB_OK && t->end && t->count >= count &&
           memcmp(t->address + t->count - count, with->address + innermost,
                  count * sizeof t->address[0]) == 0;
}

/* Another thread's walk may have been in the middle of anything, too, when a process was copied. */
static void look_in_a_child(const void *ucontext)
{
    pid_t child = fork();
    int status = -1;

    if (child == 0) {
        capture(&nested, ucontext);
        _exit(ends_alike(&nested, &intact, 1 + way->skip) ? 0 : 1);
    }
    forks++;
    if (child < 0 || waitpid(child, &status, 0) != child || status != 0)
        wrong_children++;
}

static void on_trap(int number, siginfo_t *si, void *ucontext)
{
    (void)number;
    (void)si;
    capture(&nested, ucontext);
    /* The first of the intact ones is in the function that turns the trap flag on. */
    if (!ends_alike(&nested, &intact, 1 + way->skip) && wrong++ == 0)
        trace_print(way->name, &nested, &intact);
    if (traps++ % FORK_EVERY == 0)
        look_in_a_child(ucontext);
}

enum mode { REFERENCE, STEPPED, PLAIN };

/* All captures of a round are made here, so that their frames are the same. */
NOINLINE static void interrupted(struct trace *out, enum mode mode)
{
    volatile bool stepped = mode == STEPPED; /* so that no call is made in two places */
    void *all[FRAMES];

    if (mode == REFERENCE) {
        out->count = (size_t)backtrace(all, FRAMES);
        for (size_t i = 0; i < out->count; i++)
            out->address[i] = (uintptr_t)all[i];
        return;
    }
    if (stepped)
        trap_on();
    capture(out, NULL);
    if (stepped)
        trap_off();
    sink++;
}

NOINLINE static void deep(int depth, struct trace *out, enum mode mode)
{
    if (depth > 0)
        deep(depth - 1, out, mode);
    else
        interrupted(out, mode);
    sink++;
}

/* @return 0: all is well */
static int run(void)
{
    unsigned different = 0;

    /* With nothing known yet; with all known; with a memo of this stack; and of another. */
    for (unsigned round = 0; round < 4; round++) {
        static struct trace plain;
        struct trace *const results[] = { &intact, &outer, &plain };

        for (volatile int mode = REFERENCE; mode <= PLAIN; mode++)
            deep(round == 3 ? DEPTH / 2 : DEPTH, results[mode], (enum mode)mode);
        if (trace_differs(&outer, 0, &plain, 0) != SIZE_MAX || !outer.end || !plain.end) {
            different++;
            trace_print(way->name, &outer, &plain);
        }
    }
    fprintf(
        stderr,
        "nested: %s: %u captures, %u wrong; %u children, %u wrong; %u interrupted ones differ\n",
        way->name, traps, wrong, forks, wrong_children, different);
    return traps < 2000 || forks < 20 ? 90 : wrong || wrong_children ? 91 : different ? 92 : 0;
}

Test(nested, captures_are_whole_at_each_instruction)
{
    struct sigaction action = { .sa_sigaction = on_trap, .sa_flags = SA_SIGINFO };

    if (sanitized())
        cr_skip("sanitizers wrap backtrace(), and make two calls of one");
    sigaction(SIGTRAP, &action, NULL);
    for (size_t w = 0; w < sizeof ways / sizeof *ways; w++) {
        /* Each in a process that has not captured anything yet. */
        pid_t child = fork();
        int status = -1;

        if (child == 0) {
            way = &ways[w];
            _exit(run());
        }
        cr_assert(waitpid(child, &status, 0) == child);
        cr_expect(eq(int, status, 0), "%s", ways[w].name);
    }
}
