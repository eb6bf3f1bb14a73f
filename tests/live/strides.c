/*
 * The fast ways to walk against the slow one: what the rule cache, strides and memos give is what
 * the walker gives that asks the tables for every frame. (That that is right, others find out.)
 */
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "support/compiler.h"
#include "support/test.h"
#include "support/ways.h"
#include "unwind/capture/memo.h"

static struct trace ours, theirs;
static unsigned walks, different, memos_used;
static volatile int sink;

static void compare(const void *ucontext)
{
    const char *way = ways_differ(ucontext, &ours, &theirs);

    walks++;
    if (way && different++ == 0)
        trace_print(way, &ours, &theirs);
}

/* --- Stacks that change in all ways --------------------------------------------------------------
 */

static uint32_t seed;

static uint32_t random_number(void)
{
    seed = seed * 1664525u + 1013904223u;
    return seed >> 8;
}

static void grow(unsigned depth);

NOINLINE static void small_frame(unsigned depth)
{
    grow(depth);
    sink++;
}

NOINLINE static void large_frame(unsigned depth)
{
    volatile char space[3000];

    KEEP_WHOLE(space);
    grow(depth);
    space[0] = (char)depth;
}

NOINLINE static void huge_frame(unsigned depth)
{
    volatile char space[20000];

    KEEP_WHOLE(space);
    grow(depth);
    space[0] = (char)depth;
}

NOINLINE static void moving_frame(unsigned depth)
{
    volatile char *space = __builtin_alloca(16 + random_number() % 300);

    space[0] = (char)depth;
    grow(depth);
    sink += space[0];
}

NOINLINE static void saves_registers(unsigned depth)
{
    unsigned a = (unsigned)sink, b = a + 1, c = a + 2, d = a + 3, e = a + 4;

    grow(depth);
    sink = (int)((a * b + c * d + e) % 1000);
    grow(depth / 2);
    sink = (int)((a + b * c + d * e) % 1000);
}

NOINLINE static void recursive(unsigned depth, unsigned times)
{
    if (times > 0)
        recursive(depth, times - 1);
    else
        grow(depth);
    sink++;
}

static unsigned left_to_grow;

static int through_libc(const void *a, const void *b)
{
    (void)a;
    (void)b;
    if (left_to_grow > 0) {
        unsigned depth = left_to_grow;

        left_to_grow = 0;
        grow(depth);
    }
    return 0;
}

static void on_signal(int number, siginfo_t *si, void *ucontext)
{
    (void)number;
    (void)si;
    compare(ucontext);
    compare(NULL);
}

/* Comes back from everywhere with a walk, so that what changes is now the inner, now the outer
 * part. */
NOINLINE static void grow(unsigned depth)
{
    int two[] = { 1, 2 };

    if (depth == 0 || walks > 6000) {
        compare(NULL);
        return;
    }
    switch (random_number() % 10) {
    case 0: small_frame(depth - 1); break;
    case 1: large_frame(depth - 1); break;
    case 2: huge_frame(depth - 1); break;
    case 3: moving_frame(depth - 1); break;
    case 4: saves_registers(depth - 1); break;
    case 5: recursive(depth - 1, random_number() % 20); break;
    case 6:
        left_to_grow = depth - 1;
        qsort(two, 2, sizeof *two, through_libc);
        break;
    case 7: raise(SIGUSR1); break;
    default: small_frame(depth - 1); break;
    }
    if (random_number() % 4 == 0)
        compare(NULL);
    sink++;
}

Test(strides, give_what_the_walker_gives)
{
    struct sigaction action = { .sa_sigaction = on_signal, .sa_flags = SA_SIGINFO };

    sigaction(SIGUSR1, &action, NULL);
    for (seed = 1; walks < 3000; seed++)
        grow(2 + seed % 40);
    fprintf(stderr, "strides: %u walks in eighteen ways, %u different\n", walks, different);
    cr_expect(eq(u32, different, 0));
}

NOINLINE static void descend(unsigned depth)
{
    if (depth > 0)
        descend(depth - 1);
    else
        compare(NULL);
    sink++;
}

/* More frames than a memo has room for, and than it had last time. */
Test(strides, deeper_than_the_memo)
{
    static const unsigned depths[] = { 590, 700, 900, 595, 610, 10, 0, 800, 800 };

    for (unsigned i = 0; i < sizeof depths / sizeof *depths; i++) {
        descend(depths[i]);
        descend(depths[i]);
    }
    cr_expect(eq(u32, different, 0));
}

/* --- Options ---------------------------------------------------------------------------------- */

static uint64_t memo[SFRAME_BACKTRACE_MEMO_SIZE(200) / 8];

NOINLINE static void with_options(unsigned depth, const struct sframe_backtrace_options *plain,
                                  size_t room)
{
    static uint8_t with[4096], without[4096];
    struct sframe_backtrace_options options = *plain;
    struct sframe_backtrace_info info[2] = { { .size = sizeof *info }, { .size = sizeof *info } };
    ssize_t size[2];

    if (depth > 0) {
        with_options(depth - 1, plain, room);
        sink++;
        return;
    }
    /* volatile: one call, not two of an unrolled loop, which would be two return addresses */
    for (volatile unsigned i = 0; i < 2; i++) {
        options.memo = i ? memo : NULL;
        options.memo_size = sizeof memo;
        size[i] = sframe_backtrace_cbf(i ? with : without, room, &options, &info[i]);
    }
    walks++;
    cr_assert(eq(u32, info[0].memo_used, 0));
    memos_used += info[1].memo_used;
    info[1].memo_used = 0;
    if (size[0] != size[1] || size[0] < 0 || memcmp(with, without, (size_t)size[0]) != 0 ||
        memcmp(&info[0], &info[1], sizeof info[0]) != 0) {
        if (different++ == 0)
            fprintf(stderr,
                    "strides: skip %u, max %u, outermost %u, room %zu: %zd, %zd bytes; %u, %u "
                    "frames; %d, %d\n",
                    plain->skip, plain->max_frames, plain->outermost, room, size[0], size[1],
                    info[0].frames, info[1].frames, info[0].end, info[1].end);
    }
}

/* Where a walk is cut off, and what it leaves out, is the same with a memo, and so are the bytes.
 */
Test(strides, cut_off_anywhere)
{
    seed = 7;
    for (unsigned i = 0; i < 4000; i++) {
        struct sframe_backtrace_options options = { .size = sizeof options };

        options.skip = random_number() % 3 ? 0 : random_number() % 40;
        options.max_frames = random_number() % 3 ? 0 : 1 + random_number() % 60;
        if (options.max_frames > 0)
            options.outermost =
                random_number() % 2 ? 0 : random_number() % (options.max_frames + 1);
        with_options(random_number() % 50, &options,
                     random_number() % 3 ? 4096 : 2 + random_number() % 300);
    }
    cr_expect(eq(u32, walks, 4000));
    cr_expect(eq(u32, different, 0));
    cr_expect(lt(u32, 0, memos_used));
}

NOINLINE static void with_hash(unsigned depth, const struct sframe_backtrace_options *plain)
{
    static void *addresses[2][100];
    static uint64_t hashed[SFRAME_BACKTRACE_HASHED_MEMO_SIZE(30) / 8];
    uint64_t hash[2] = { 0 };
    ssize_t count[2];

    if (depth > 0) {
        with_hash(depth - 1, plain);
        sink++;
        return;
    }
    for (volatile unsigned i = 0; i < 2; i++) {
        struct sframe_backtrace_options options = *plain;

        options.hash = &hash[i];
        options.memo = i ? hashed : NULL;
        options.memo_size = sizeof hashed;
        count[i] = sframe_backtrace_addresses(addresses[i], 100, &options, NULL);
    }
    walks++;
    cr_assert(eq(long, count[0], count[1]));
    different += hash[0] != hash[1] || count[0] < 1 ||
                 memcmp(addresses[0], addresses[1], (size_t)count[0] * sizeof(void *)) != 0;
}

/* The memo's frames are more than those that are given, or others. */
Test(strides, hash_what_is_given)
{
    seed = 11;
    for (unsigned i = 0; i < 4000; i++) {
        struct sframe_backtrace_options options = { .size = sizeof options };

        options.skip = random_number() % 2 ? 0 : random_number() % 5;
        options.max_frames = random_number() % 2 ? 0 : 1 + random_number() % 60;
        with_hash(random_number() % 60, &options);
    }
    cr_expect(eq(u32, walks, 4000));
    cr_expect(eq(u32, different, 0));
}

NOINLINE static ssize_t walk_again(uint8_t *out, size_t size)
{
    struct sframe_backtrace_options options = { .size = sizeof options,
                                                .memo = memo,
                                                .memo_size = sizeof memo };

    return sframe_backtrace_cbf(out, size, &options, NULL);
}

/* Bytes of the second walk are the memo's: a memo that was tampered with shows in them. */
Test(strides, take_what_did_not_change_from_the_memo)
{
    struct sfb_memo *m = (void *)memo;
    uint8_t bytes[4][1024] = { { 0 } };
    ssize_t size[4];

    /* The first asks the tables, which memos know nothing of. */
    for (volatile unsigned i = 0; i < 4; i++) {
        size[i] = walk_again(bytes[i], sizeof bytes[i]);
        if (i == 0)
            continue;
        cr_assert(lt(u32, 1, m->count));
        cr_assert(lt(u32, 1, m->frame[0].cbf_size));
        if (i == 2)
            m->frame[0].cbf[1] ^= 1;
    }
    cr_expect(eq(sz, (size_t)size[1], (size_t)size[2]));
    cr_expect(eq(sz, (size_t)size[1], (size_t)size[3]));
    cr_expect(eq(int, memcmp(bytes[1], bytes[2], sizeof bytes[0]), 0));
    cr_expect(ne(int, memcmp(bytes[1], bytes[3], sizeof bytes[0]), 0));
}

/* A walk in a handler that finds the memo in use goes on without; one that is not aligned, too. */
Test(strides, take_no_memo_that_is_in_use)
{
    struct sframe_backtrace_options options = { .size = sizeof options,
                                                .memo = memo,
                                                .memo_size = sizeof memo };
    uint64_t before[sizeof memo / sizeof *memo];
    uint8_t bytes[1024];

    memo[0] = 1; /* busy, in either byte order */
    memo[0] |= (uint64_t)1 << 32;
    memcpy(before, memo, sizeof memo);
    cr_expect(lt(int, 0, (int)sframe_backtrace_cbf(bytes, sizeof bytes, &options, NULL)));
    options.memo = (uint8_t *)memo + 4;
    options.memo_size -= 8;
    cr_expect(lt(int, 0, (int)sframe_backtrace_cbf(bytes, sizeof bytes, &options, NULL)));
    options.memo_size = 40;
    options.memo = memo + 2;
    cr_expect(lt(int, 0, (int)sframe_backtrace_cbf(bytes, sizeof bytes, &options, NULL)));
    cr_expect(eq(int, memcmp(before, memo, sizeof memo), 0));
}
