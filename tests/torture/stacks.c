/*
 * Corrupt stacks: registers and words of a real stack are replaced, and the walk has to come back,
 * with a whole CBF that says `end` only where it came to the outermost frame.
 *
 *     torture-stacks main|thread [--seed N] [--first N] [--inject WHAT] [TRIALS]
 *
 * The stack is this program's own, forty frames deep: with .sframe and with .eh_frame (qsort()),
 * with frame pointers and without, through a signal's frame. At its bottom a child is forked, which
 * interrupts itself, and all else happens in that handler, on another stack: so the whole stack can
 * be damaged
 *
 * - in place, where it is what the walk takes for the calling thread's own, reads with plain loads
 *   and remembers in a memo; the handler never returns to it, and mends it before each trial;
 * - in a copy that ends at an unmapped page, with all that points into the stack made to point into
 *   the copy: memory that is nobody's stack, and has to be probed, or is vouched for.
 *
 * Which frames are the outermost is known from before the damage, and from glibc's backtrace().
 */
#include <errno.h>
#include <execinfo.h>
#include <pthread.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <ucontext.h>
#include <unistd.h>

#include "sfb/walk.h"
#include "support/compiler.h"
#include "support/guarded.h"
#include "support/machine.h"
#include "support/trace.h"
#include "support/ways.h"
#include "trials.h"
#include "unwind/process/module_cache.h"

enum { DEPTH = 30, WORDS_MAX = 8192, FRAMES_MAX = 256, WRITTEN_MAX = 80, ALTERNATE = 1 << 20 };

static struct trials *trials;

/* --- The stack as it was ---------------------------------------------------------------------- */

enum place { IN_PLACE, PROBED, VOUCHED, PLACES };

static ucontext_t good_context;
static struct sfb_regs good_regs;
static uint64_t good[WORDS_MAX]; /* words from sp on */
static size_t words;             /* ... up to the outermost frame's sp */
static void *intact[FRAMES_MAX];
static ssize_t intact_count;
static uint32_t ra_at[FRAMES_MAX], pointer_at[WORDS_MAX]; /* indices of words */
static size_t ra_count, pointer_count;
static struct guarded copies; /* where the copy ends */
static uint64_t hole;         /* a megabyte of nothing */

#define MEMO_WORDS (SFRAME_BACKTRACE_MEMO_SIZE(100) / 8)
static uint64_t good_memo[PLACES][MEMO_WORDS], memo[MEMO_WORDS];

/* What the tallies of struct trials are. */
enum tally { ENDS, SHORT_CUTS, FORGED, MEMOS, COMPARED };

/* --- One trial -------------------------------------------------------------------------------- */

struct machine {
    enum place place;
    uint64_t *stack; /* first word that there is */
    size_t count;    /* words that there are */
    ucontext_t context;
    uint64_t pc, sp, fp, lr;
    uint64_t written[WRITTEN_MAX]; /* what the trial has put in place of something */
    size_t written_count;
};

static bool in_stack(uint64_t word)
{
    return word - good_regs.sp <= words * 8;
}

/* Puts the stack in order, or makes a copy of its first words that ends where memory does. */
static void mend(struct machine *m, enum place place, size_t count)
{
    m->place = place;
    m->count = count;
    m->context = good_context;
    m->written_count = 0;
    m->pc = good_regs.pc;
    m->sp = good_regs.sp;
    m->fp = good_regs.fp;
    m->lr = good_regs.lr;
    m->stack = (uint64_t *)(uintptr_t)good_regs.sp; /* NOLINT(performance-no-int-to-ptr) */
    memcpy(m->stack, good, words * 8);
    if (place != IN_PLACE) {
        uint64_t *copy = (uint64_t *)(void *)copies.end - count;
        uint64_t delta = (uintptr_t)copy - good_regs.sp;

        for (size_t i = 0; i < count; i++)
            copy[i] = good[i] + (in_stack(good[i]) ? delta : 0);
        m->stack = copy;
        m->sp += delta;
        m->fp += in_stack(m->fp) ? delta : 0;
    }
}

static uint64_t code_address(struct random *r)
{
    uint64_t near = (uintptr_t)intact[random_below(r, (uint64_t)intact_count)];

    return near + random_below(r, 1ull << (4 + random_below(r, 14))) - 8;
}

static uint64_t stack_address(struct random *r, const struct machine *m)
{
    uint64_t at = (uintptr_t)m->stack + random_below(r, m->count + 64) * 8;

    return random_below(r, 8) == 0 ? at + random_below(r, 8) : at - random_below(r, 2) * 8 * 8;
}

enum kind { WILD, CANONICAL, NEAR_STACK, NEAR_CODE, SMALL, MIXED };

static uint64_t any_word(struct random *r, const struct machine *m, unsigned kind)
{
    uint64_t value = random_next(r);

    if (kind == MIXED)
        kind = (unsigned)random_below(r, MIXED);
    switch ((enum kind)kind) {
    case WILD: return value;
    case CANONICAL: return value & ((1ull << SFB_ARCH_PC_BITS) - 1);
    case NEAR_STACK: return stack_address(r, m);
    case NEAR_CODE: return code_address(r);
    case SMALL:
    case MIXED: break;
    }
    return value >> 62 ? value % 64 : 0;
}

static uint64_t note(struct machine *m, uint64_t value)
{
    if (m->written_count < WRITTEN_MAX)
        m->written[m->written_count++] = value;
    return value;
}

static void write_word(struct machine *m, uint64_t at, uint64_t value)
{
    if (at < m->count)
        m->stack[at] = note(m, value);
}

static void damage_words(struct machine *m, struct random *r)
{
    unsigned kind = (unsigned)random_below(r, MIXED + 1);
    uint64_t n = random_below(r, 8) == 0 ? 64 : 1 + random_below(r, 8);

    for (; n > 0; n--)
        write_word(m, random_below(r, m->count), any_word(r, m, kind));
}

/* Words that a walk does read. */
static void damage_targets(struct machine *m, struct random *r)
{
    unsigned kind = (unsigned)random_below(r, MIXED + 1);

    for (uint64_t n = 1 + random_below(r, 3); n > 0; n--) {
        uint64_t at = pointer_count && random_below(r, 2)
                          ? pointer_at[random_below(r, pointer_count)]
                          : ra_at[random_below(r, ra_count)];

        write_word(m, at, any_word(r, m, kind));
    }
}

/* Saved frame pointers that lead to each other, to themselves, or back. */
static void damage_chain(struct machine *m, struct random *r)
{
    if (pointer_count == 0)
        return;
    for (uint64_t n = 1 + random_below(r, 6); n > 0; n--) {
        uint32_t from = pointer_at[random_below(r, pointer_count)];
        uint32_t to = pointer_at[random_below(r, pointer_count)];

        write_word(m, from, (uintptr_t)(m->stack + (random_below(r, 4) ? to : from)));
        if (random_below(r, 2))
            write_word(m, from + 1, code_address(r));
    }
    if (random_below(r, 2))
        m->fp = (uintptr_t)(m->stack + pointer_at[random_below(r, pointer_count)]);
}

/*
 * Return addresses and pointers that lead into the stack, behind the bytes of a call: as if code that was made at
 * run time lay there.
 */
static void damage_calls(struct machine *m, struct random *r)
{
    for (uint64_t n = 1 + random_below(r, 3); n > 0; n--) {
        uint64_t call = random_below(r, m->count);
        uint64_t to = pointer_count && random_below(r, 2)
                          ? pointer_at[random_below(r, pointer_count)]
                          : ra_at[random_below(r, ra_count)];

        write_word(m, call, MACHINE_CALL_WORD);
        write_word(m, to, (uintptr_t)(m->stack + call + 1));
    }
}

static void damage_pc(struct machine *m, struct random *r)
{
    static int data;

    switch (random_below(r, 7)) {
    case 0: m->pc = random_below(r, 2) ? 0 : random_below(r, 4096); break;
    case 1: m->pc = (uintptr_t)&data + random_below(r, 64); break;
    case 2: m->pc = hole + random_below(r, 1 << 20); break;
    case 3: m->pc = ~0ull << 47 | random_next(r); break;      /* the kernel's */
    case 4: m->pc = 1ull << 47 | random_next(r) >> 16; break; /* non-canonical, or up there */
    case 5: m->pc = stack_address(r, m); break;
    default: m->pc = code_address(r); break;
    }
    note(m, m->pc);
}

static void damage_sp(struct machine *m, struct random *r)
{
    switch (random_below(r, 4)) {
    case 0: m->sp = any_word(r, m, MIXED); break;
    case 1: /* at the end of a mapping */
        m->sp = (uintptr_t)(m->stack + m->count) - random_below(r, 12) * 8 + 16;
        break;
    case 2: m->sp += (random_below(r, 64) - 32) * 8; break;
    default: m->sp = stack_address(r, m); break;
    }
}

static void damage(struct machine *m, struct random *r)
{
    uint64_t which = random_below(r, 18);

    if (which < 5 || (which > 12 && which < 16))
        damage_words(m, r);
    if (which == 5 || which == 6 || which == 14 || which == 15)
        damage_targets(m, r);
    if (which == 7 || which == 8 || which == 15)
        damage_chain(m, r);
    if (which == 9 || which == 13)
        damage_pc(m, r);
    if (which == 10 || which == 14)
        damage_sp(m, r);
    if (which == 11 || which == 15)
        m->fp = any_word(r, m, MIXED);
    if (which > 15)
        damage_calls(m, r);
    if (which == 12)
        m->lr = note(m, any_word(r, m, MIXED));
    machine_set_ucontext(&m->context, m->pc, m->sp, m->fp);
    machine_set_lr(&m->context, m->lr);
}

/* --- Judgement -------------------------------------------------------------------------------- */

static bool was_written(const struct machine *m, uint64_t address)
{
    for (size_t i = 0; i < m->written_count; i++)
        if (address == (m->written[i] & SFB_ARCH_CODE_MASK) || address == m->written[i])
            return true;
    return false;
}

static uint64_t outermost(unsigned i)
{
    return (uintptr_t)intact[intact_count - 1 - (ssize_t)i];
}

/* Of a capture that left out frames: all of them. */
static void capture_all(struct trace *t, struct sframe_backtrace_options *options)
{
    static void *all[TRACE_MAX];
    ssize_t got;

    options->skip = options->max_frames = options->outermost = 0;
    got = sframe_backtrace_addresses(all, TRACE_MAX, options, NULL);
    for (t->count = 0; t->count < (size_t)got; t->count++)
        t->address[t->count] = (uintptr_t)all[t->count];
}

/*
 * An end has to be that of the intact stack, by its last two frames. Two kinds are counted apart:
 * a short cut, where a wrong register leads past frames to the true outermost one; and a forged
 * one, which the trial itself has made: a pc in a function that nothing calls, or a word that is
 * that function's very return address. No table, and no walker, can tell; they are few.
 */
static enum verdict judge_end(const struct machine *m, struct trace *t,
                              struct sframe_backtrace_options *options)
{
    uint64_t last;

    if (options->skip)
        capture_all(t, options);
    last = t->count ? t->address[t->count - 1] : 0;
    if (t->count && last == outermost(0) &&
        (t->count < 2 || t->address[t->count - 2] == outermost(1))) {
        trials->tally[ENDS]++;
        return VERDICT_GOOD;
    }
    if (t->count && was_written(m, last)) {
        trials->tally[FORGED]++;
        return VERDICT_GOOD;
    }
    if (t->count && last == outermost(0)) {
        trials->tally[SHORT_CUTS]++;
        return VERDICT_GOOD;
    }
    return VERDICT_FALSE_END;
}

static enum verdict complain(uint64_t trial, enum verdict verdict, const struct trace *t)
{
    char what[160];

    snprintf(what, sizeof what, "%zu frames, %s, last %#llx", t->count, t->end ? "end" : "trunc",
             t->count ? (unsigned long long)t->address[t->count - 1] : 0);
    trials_complain(trials, trial, verdict, what);
    return verdict;
}

static struct trace ours, theirs;

static bool ends_by_order(uint64_t trial)
{
    return trials->inject == INJECT_END && trial == 100;
}

static enum verdict capture_cbf(const struct machine *m, struct random *r, uint64_t trial,
                                struct sframe_backtrace_options *options)
{
    static uint8_t buffer[FRAMES_MAX * 64];
    struct sframe_backtrace_info info = { .size = sizeof info };
    bool small = random_below(r, 4) == 0;
    size_t size = small ? 2 + random_below(r, 300) : sizeof buffer - 16;
    ssize_t got;

    if (random_below(r, 8) == 0) {
        options->max_frames = 1 + (uint32_t)random_below(r, 60);
        options->outermost = (uint32_t)random_below(r, options->max_frames);
    }
    memset(buffer + size, 0xa5, 16);
    errno = 4711;
    got = sframe_backtrace_cbf(buffer, size, options, &info);
    trace_decode(&ours, buffer, got);
    for (size_t i = 0; i < 16; i++)
        if (buffer[size + i] != 0xa5)
            return complain(trial, VERDICT_BAD_CBF, &ours);
    if (ends_by_order(trial)) {
        /* Nothing that the trial wrote, and not to be captured again. */
        ours = (struct trace){ .count = 1, .end = 1, .address = { 4711 } };
        info.end = SFB_END;
        options->skip = 0;
    }
    if (errno != 4711 || ours.error != SFB_OK || (info.end == SFB_END) != (ours.end == 1))
        return complain(trial, VERDICT_BAD_CBF, &ours);
    if (info.frames > (words + 64) * 65)
        return complain(trial, VERDICT_TOO_LONG, &ours);
    if (ours.end && judge_end(m, &ours, options) != VERDICT_GOOD)
        return complain(trial, VERDICT_FALSE_END, &ours);
    return VERDICT_GOOD;
}

static enum verdict capture_addresses(const struct machine *m, struct random *r, uint64_t trial,
                                      struct sframe_backtrace_options *options)
{
    static void *buffer[TRACE_MAX];
    size_t size = random_below(r, 4) == 0 ? 1 + random_below(r, 60) : TRACE_MAX;
    struct sframe_backtrace_info info = { .size = sizeof info };
    ssize_t got;

    errno = 4711;
    got = sframe_backtrace_addresses(buffer, size, options, &info);
    ours.count = 0;
    ours.end = info.end == SFB_END;
    if (errno != 4711 || got < 0 || (size_t)got > size || info.frames != got)
        return complain(trial, VERDICT_BAD_CBF, &ours);
    for (; ours.count < (size_t)got; ours.count++)
        ours.address[ours.count] = (uintptr_t)buffer[ours.count];
    if (ours.end && judge_end(m, &ours, options) != VERDICT_GOOD)
        return complain(trial, VERDICT_FALSE_END, &ours);
    return VERDICT_GOOD;
}

/* The same trial does other damage where the stack lies elsewhere, or has another size. */
static void print_damage(const struct machine *m)
{
    fprintf(stderr, "    pc %#llx, sp %#llx, fp %#llx, stack %#llx, %zu words of it\n",
            (unsigned long long)m->pc, (unsigned long long)m->sp, (unsigned long long)m->fp,
            (unsigned long long)(uintptr_t)m->stack, m->count);
    for (size_t i = 0; i < m->count; i++)
        if (m->place == IN_PLACE && m->stack[i] != good[i])
            fprintf(stderr, "    %#llx: %#llx, was %#llx\n",
                    (unsigned long long)(uintptr_t)&m->stack[i], (unsigned long long)m->stack[i],
                    (unsigned long long)good[i]);
}

static struct machine machine;

static enum verdict one(struct trials *t, struct random *r, uint64_t trial)
{
    struct machine *m = &machine;
    enum place place = (enum place)(random_below(r, 4) % PLACES); /* half of them in place */
    /* A copy is cut off now and then, so that its mapping ends in the middle of the stack. */
    size_t count =
        place != IN_PLACE && random_below(r, 4) == 0 ? 1 + random_below(r, words) : words;
    struct sframe_backtrace_options options = { .size = sizeof options, .context = &m->context };
    enum verdict verdict;

    mend(m, place, count);
    damage(m, r);
    if (place == VOUCHED) {
        options.stack = m->stack;
        options.stack_size = m->count * 8;
    }
    if (random_below(r, 4) == 0)
        options.flags = SFRAME_BACKTRACE_NO_LIBUNWIND;
    if (random_below(r, 16) == 0)
        options.skip = (uint32_t)random_below(r, 8);
    if (trial % 2) {
        /* Of the intact stack; now and then what the trials before have made of it. */
        if (random_below(r, 8) != 0)
            memcpy(memo, good_memo[place], sizeof memo);
        options.memo = memo;
        options.memo_size = sizeof memo;
        t->tally[MEMOS]++;
    }
    if (trial % 64 == 0)
        memset(&sfb_live_rules, 0, sizeof sfb_live_rules); /* cold */
    if (place == IN_PLACE && trial % 8 == 5) {
        const char *way = ways_differ(&m->context, &ours, &theirs);

        t->tally[COMPARED]++;
        if (way) {
            trials_complain(t, trial, VERDICT_DIFFERS, way);
            trace_print(way, &ours, &theirs);
            print_damage(m);
            return VERDICT_DIFFERS;
        }
    }
    /* Which of the two it is depends on the compiler's frames, but not where a false end is injected. */
    verdict = random_below(r, 3) != 0 || ends_by_order(trial)
                  ? capture_cbf(m, r, trial, &options)
                  : capture_addresses(m, r, trial, &options);
    return verdict;
}

/* --- Before the trials ------------------------------------------------------------------------ */

_Noreturn static void broken(const char *what)
{
    fprintf(stderr, "%s: the intact stack is not as expected: %s\n", trials->name, what);
    _exit(2);
}

/* The frames of the intact stack, how far it reaches, and the words of it that matter. */
static void look_around(void)
{
    struct sfb_context start;
    struct sfb_walker walker;
    struct sfb_frame frame;
    enum sfb_status status;
    uint64_t top = 0;

    sfb_context_from_ucontext(&start, &good_context);
    if (sfb_walker_init(&walker, &start, SFB_FRAME_PC, NULL) != SFB_OK)
        broken("no walk");
    while ((status = sfb_walker_next(&walker, &frame)) == SFB_OK && intact_count < FRAMES_MAX) {
        intact[intact_count++] =
            (void *)(uintptr_t)frame.address; /* NOLINT(performance-no-int-to-ptr) */
        top = frame.sp;
    }
    if (status != SFB_END || intact_count < DEPTH)
        broken(sfb_status_str(status));
    words = (top - good_regs.sp) / 8;
    if (words > WORDS_MAX)
        broken("too large");
    memcpy(good, (const void *)(uintptr_t)good_regs.sp, words * 8); /* NOLINT */
    for (uint32_t i = 0; i < words; i++) {
        if (in_stack(good[i]))
            pointer_at[pointer_count++] = i;
        for (ssize_t f = 1; f < intact_count && ra_count < FRAMES_MAX; f++)
            if ((good[i] & SFB_ARCH_CODE_MASK) == (uintptr_t)intact[f]) {
                ra_at[ra_count++] = i;
                break;
            }
    }
}

/* glibc's own unwinder, from this handler, comes to the same end. */
static void ask_backtrace(void)
{
    void *frames[FRAMES_MAX];
    int n = backtrace(frames, FRAMES_MAX);

    while (n > 0 && !frames[n - 1])
        n--;
    for (int i = 1; i <= 2; i++)
        if (n < 2 || frames[n - i] != intact[intact_count - i])
            broken("not the outermost frames that backtrace() finds");
}

/* Copies are walked like the stack itself, and memos are filled. */
static void check_places(void)
{
    static void *found[FRAMES_MAX];

    for (unsigned place = IN_PLACE; place < PLACES; place++) {
        struct machine *m = &machine;
        struct sframe_backtrace_options options = { .size = sizeof options,
                                                    .context = &m->context,
                                                    .memo = good_memo[place],
                                                    .memo_size = sizeof good_memo[place] };

        mend(m, (enum place)place, words);
        if (place == VOUCHED) {
            options.stack = m->stack;
            options.stack_size = m->count * 8;
        }
        machine_set_ucontext(&m->context, m->pc, m->sp, m->fp);
        for (unsigned again = 0; again < 3; again++) {
            struct sframe_backtrace_info info = { .size = sizeof info };
            ssize_t n = sframe_backtrace_addresses(found, FRAMES_MAX, &options, &info);

            if (info.end != SFB_END || n != intact_count ||
                memcmp(found, intact, (size_t)n * sizeof *found) != 0)
                broken("another one in its copy");
        }
    }
}

static void on_fault(int number, siginfo_t *si, void *ucontext)
{
    (void)number;
    (void)si;
    memcpy(&good_context, ucontext, sizeof good_context);
    good_regs = machine_regs(&good_context);
    look_around();
    ask_backtrace();
    check_places();
    trials_batch(trials, one);
}

/* --- The stack -------------------------------------------------------------------------------- */

static volatile int sink;

static int descend(int depth);

NOINLINE static int with_a_frame(int depth)
{
    volatile char space[200];

    space[0] = (char)descend(depth);
    return space[0] + sink++;
}

NOINLINE static int with_a_frame_pointer(int depth)
{
    volatile char *space = __builtin_alloca((size_t)(depth % 7) * 16 + 32);

    space[0] = (char)descend(depth);
    return space[0] + sink++;
}

static int depth_of_qsort, depth_of_signal;
static bool compared;

static int compare(const void *a, const void *b)
{
    (void)a;
    (void)b;
    if (!compared) {
        compared = true;
        sink += descend(depth_of_qsort);
    }
    return 0;
}

NOINLINE static int through_qsort(int depth)
{
    int two[2] = { 1, 2 };

    compared = false;
    depth_of_qsort = depth;
    qsort(two, 2, sizeof *two, compare);
    return two[0] + sink++;
}

static void on_the_way(int number)
{
    (void)number;
    sink += descend(depth_of_signal);
}

NOINLINE static int through_a_signal(int depth)
{
    depth_of_signal = depth;
    raise(SIGUSR1);
    return sink++;
}

/* Only the children come out of trials_fork() with something to do. */
NOINLINE static int bottom(void)
{
    if (trials_fork(trials)) {
        struct sigaction action = { .sa_sigaction = on_fault,
                                    .sa_flags = SA_SIGINFO | SA_ONSTACK | SA_NODEFER };
        void *map =
            mmap(NULL, ALTERNATE, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
        stack_t on = { .ss_sp = map, .ss_size = ALTERNATE };

        if (map == MAP_FAILED || sigaltstack(&on, NULL) != 0)
            _exit(2);
        /* Only now: what is mapped next would be there, and a handler's stack changes as it is
         * read. */
        munmap((void *)(uintptr_t)hole, 1 << 20); /* NOLINT(performance-no-int-to-ptr) */
        sigaction(SIGILL, &action, NULL);
        __asm__ volatile(MACHINE_FAULT ::: "memory");
    }
    return sink++;
}

NOINLINE static int descend(int depth)
{
    if (depth == 0)
        return bottom() + sink;
    if (depth == DEPTH / 2)
        return through_a_signal(depth - 1) + sink++;
    switch (depth % 4) {
    case 0: return with_a_frame_pointer(depth - 1) + sink++;
    case 1: return with_a_frame(depth - 1) + sink++;
    case 2: return depth % 3 ? descend(depth - 1) + sink++ : through_qsort(depth - 1) + sink++;
    default: return descend(depth - 1) + sink++;
    }
}

static void *in_thread(void *arg)
{
    sink += descend(DEPTH);
    return arg;
}

int main(int argc, char **argv)
{
    bool thread = argc > 1 && strcmp(argv[1], "thread") == 0;
    struct sigaction action = { .sa_handler = on_the_way };
    pthread_t other;
    void *map;

    if (argc < 2 || !(thread || strcmp(argv[1], "main") == 0)) {
        fprintf(stderr, "usage: %s main|thread [--seed N] [--first N] [--inject WHAT] [TRIALS]\n",
                argv[0]);
        return 2;
    }
    trials = trials_new(thread ? "stacks thread" : "stacks main", 20000, argc - 1, argv + 1);
    copies = guarded_new(WORDS_MAX * 8);
    map = mmap(NULL, 1 << 20, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    hole = (uintptr_t)map;
    sigaction(SIGUSR1, &action, NULL);
    (void)backtrace(&map, 1); /* loads libgcc */
    if (!thread)
        sink += descend(DEPTH);
    else if (pthread_create(&other, NULL, in_thread, NULL) != 0 || pthread_join(other, NULL) != 0)
        return 2;
    printf("%s: %llu reached the outermost frame, %llu of them past others; %llu were led to a "
           "forged one; %llu with a memo, %llu walked in all ways\n",
           trials->name, (unsigned long long)trials->tally[ENDS] + trials->tally[SHORT_CUTS],
           (unsigned long long)trials->tally[SHORT_CUTS], (unsigned long long)trials->tally[FORGED],
           (unsigned long long)trials->tally[MEMOS], (unsigned long long)trials->tally[COMPARED]);
    /* One in 20,000; one in 6,000 where any word is believed that leads into such a function. */
    if (trials->tally[FORGED] > 20 + trials->count / 16000) {
        fprintf(stderr, "%s: too many ends are forged\n", trials->name);
        return 1;
    }
    return trials_report(trials);
}
