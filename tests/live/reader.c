/*
 * Walks of a stack that a caller reads: copied, then unmapped. (That a reader of this process's own memory gives the
 * frames of any other walk, strides.c and single_step.c show.)
 */
#include <errno.h>
#include <signal.h>
#include <string.h>
#include <sys/mman.h>
#include <ucontext.h>

#include "sframe_backtrace.h"
#include "support/compiler.h"
#include "support/machine.h"
#include "support/test.h"

enum { DEPTH = 20, FRAMES = 64, STACK = 128 << 10 };

static void *stack; /* of a coroutine, unmapped before a walk */
static ucontext_t first, coroutine;
static volatile int sink;

/* What a handler on that stack keeps. */
static struct {
    ucontext_t context;
    uint64_t at;
    size_t size;
    uint8_t bytes[STACK];
    void *frames[FRAMES]; /* as a walk there finds them */
    ssize_t count;
    enum sfb_status end;
} copy;

/* Of the copy alone. */
struct reader {
    unsigned refused; /* the word of this number, from 1 on; 0: none */
    unsigned words, misaligned;
};

static bool read_copy(void *user, uint64_t address, uint64_t *word)
{
    struct reader *r = user;

    r->misaligned += (address & 7) != 0;
    if (address - copy.at >= copy.size || ++r->words == r->refused)
        return false;
    memcpy(word, copy.bytes + (address - copy.at), sizeof *word);
    return true;
}

static void keep(int number, siginfo_t *siginfo, void *context)
{
    struct sframe_backtrace_options options = SFRAME_BACKTRACE_OPTIONS_INIT;
    struct sframe_backtrace_info info = SFRAME_BACKTRACE_INFO_INIT;

    (void)number;
    (void)siginfo;
    copy.context = *(const ucontext_t *)context;
    copy.at = machine_regs(context).sp & ~(uint64_t)7;
    copy.size = (uintptr_t)stack + STACK - copy.at;
    memcpy(copy.bytes, (const void *)(uintptr_t)copy.at, copy.size); /* NOLINT */
    options.context = context;
    copy.count = sframe_backtrace_addresses(copy.frames, FRAMES, &options, &info);
    copy.end = info.end;
}

NOINLINE static void deep(unsigned depth)
{
    if (depth > 0)
        deep(depth - 1);
    else
        raise(SIGUSR1);
    sink++;
}

static void run(void)
{
    deep(DEPTH);
}

static void copy_a_stack(void)
{
    struct sigaction action = { .sa_sigaction = keep, .sa_flags = SA_SIGINFO };

    stack = mmap(NULL, STACK, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    cr_assert(stack != MAP_FAILED);
    sigaction(SIGUSR1, &action, NULL);
    getcontext(&coroutine);
    coroutine.uc_stack.ss_sp = stack;
    coroutine.uc_stack.ss_size = STACK;
    coroutine.uc_link = &first;
    makecontext(&coroutine, run, 0);
    swapcontext(&first, &coroutine);
    munmap(stack, STACK);
    cr_assert(copy.count > DEPTH);
}

TestSuite(reader, .init = copy_a_stack);

static struct sframe_backtrace_options options_for(struct reader *reader)
{
    struct sframe_backtrace_options options = SFRAME_BACKTRACE_OPTIONS_INIT;

    options.context = &copy.context;
    options.read = read_copy;
    options.read_user = reader;
    return options;
}

static void expect_frames(void **frames, ssize_t count, size_t from)
{
    cr_expect(eq(long, count + (ssize_t)from, copy.count));
    cr_expect(zero(int, memcmp(frames, copy.frames + from, (size_t)count * sizeof *frames)));
}

Test(reader, gives_the_frames_of_a_stack_that_is_gone)
{
    struct reader reader = { .words = 0 };
    struct sframe_backtrace_options options = options_for(&reader);
    struct sframe_backtrace_info info = SFRAME_BACKTRACE_INFO_INIT;
    void *frames[FRAMES] = { NULL };

    errno = ENOTTY;
    expect_frames(frames, sframe_backtrace_addresses(frames, FRAMES, &options, &info), 0);
    cr_expect(eq(int, (int)info.end, (int)copy.end));
    cr_expect(eq(int, errno, ENOTTY));
    cr_expect(reader.words >= DEPTH);
    cr_expect(zero(uint, reader.misaligned));
    options.skip = 3;
    options.flags = SFRAME_BACKTRACE_DOUBT | SFRAME_BACKTRACE_NO_LIBUNWIND;
    options.max_work = 1 << 20;
    options.stack = copy.bytes;
    options.stack_size = sizeof copy.bytes;
    expect_frames(frames, sframe_backtrace_addresses(frames, FRAMES, &options, NULL), 3);
}

/* Its frames are of a stack that this thread has left long ago. */
Test(reader, goes_on_by_resume)
{
    enum { PART = 3 };
    struct sframe_backtrace_resume state = { { 0 } };
    struct reader reader = { .words = 0 };
    struct sframe_backtrace_options options = options_for(&reader);
    struct sframe_backtrace_info info = SFRAME_BACKTRACE_INFO_INIT;
    void *frames[FRAMES];
    ssize_t count = 0, part;

    options.resume = &state;
    do {
        part = sframe_backtrace_addresses(frames + count, PART, &options, &info);
        cr_assert(part > 0);
        count += part;
    } while (info.end == SFB_FRAME_LIMIT && count <= FRAMES - PART);
    expect_frames(frames, count, 0);
    /* Any word of its frame may be another one by now; that its return address is, is seen. */
    memset(&state, 0, sizeof state);
    sframe_backtrace_addresses(frames, PART, &options, NULL);
    memset(copy.bytes, 0, copy.size);
    cr_expect(
        eq(long, sframe_backtrace_addresses(frames, PART, &options, NULL), -SFB_STACK_CHANGED));
}

/* Whatever word is refused, the walk stops there: it reads no other memory in its place. */
Test(reader, ends_a_walk_where_it_refuses)
{
    struct reader all = { .words = 0 };
    struct sframe_backtrace_options options = options_for(&all);
    struct sframe_backtrace_info info = SFRAME_BACKTRACE_INFO_INIT;
    void *frames[FRAMES];
    ssize_t before = 0;

    sframe_backtrace_addresses(frames, FRAMES, &options, NULL);
    for (unsigned n = 1; n <= all.words; n++) {
        struct reader reader = { .refused = n };
        ssize_t count;

        options = options_for(&reader);
        count = sframe_backtrace_addresses(frames, FRAMES, &options, &info);
        cr_assert(info.end == SFB_UNREADABLE && count >= before && count < copy.count, "word %u",
                  n);
        cr_expect(zero(int, memcmp(frames, copy.frames, (size_t)count * sizeof *frames)));
        before = count;
    }
    cr_expect(lt(long, DEPTH, before));
}
