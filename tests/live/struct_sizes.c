/*
 * Callers that were built with an older or a newer header: structs with `size`, of every size and
 * at each boundary. A smaller one counts as zero from its end on; a larger one is accepted if it is
 * zero behind what is known here; of one that is written, no byte behind its end is.
 *
 * Each struct ends at a page that cannot be touched, and what it leads to is compared with that of
 * a struct of today with the same members. (abi_program.c is a whole program with other headers.)
 */
#include <fcntl.h>
#include <stdio.h>
#include <unistd.h>

#include "crash/crash.h"
#include "crash/handler.h"
#include "sfb/cbf.h"
#include "sfb/walk.h"
#include "sframe_backtrace.h"
#include "sframe_backtrace_crash.h"
#include "support/compiler.h"
#include "support/guarded.h"
#include "support/test.h"

enum { SIZE_MAX_HERE = 256, FRAMES = 64 };

/* Unrolled, the loops that it ends would call from two places, which are on the stacks. */
static volatile unsigned two = 2;

/* --- Every size ------------------------------------------------------------------------------- */

/* What a call with a struct of today leads to, in bytes that can be compared. */
typedef enum sfb_status call_fn(const void *in, uint8_t *out, size_t room);

enum { ROOM = 1024 };

/* Callers' structs are aligned, whatever their size says. */
static size_t aligned(size_t size)
{
    return (size + sizeof size - 1) / sizeof size * sizeof size;
}

/* A struct of `size` bytes: the first of today's, zeros behind them, and one byte of `tail`. */
struct built {
    struct guarded at;
    uint8_t *bytes;
};

static struct built build(const void *today, size_t ours, size_t size, size_t tail)
{
    uint8_t bytes[2 * SIZE_MAX_HERE] = { 0 };
    struct built b = { .at = guarded_new(sizeof bytes) };

    memcpy(bytes, today, size < ours ? size : ours);
    if (size >= sizeof size)
        memcpy(bytes, &size, sizeof size);
    if (tail < sizeof bytes)
        bytes[tail] |= tail > 0; /* 0: none */
    b.bytes = guarded_copy(&b.at, bytes, aligned(size));
    return b;
}

/* The struct of today that says the same. */
static void complete(uint8_t *out, const uint8_t *in, size_t ours, size_t size)
{
    memset(out, 0, ours);
    memcpy(out, in, size < ours ? size : ours);
    memcpy(out, &ours, sizeof ours);
}

/* A call for each size of an in-struct, whose members of today are all set. */
static void expect_every_size(const char *name, const void *today, size_t ours, call_fn *call)
{
    cr_assert(le(sz, ours, (size_t)SIZE_MAX_HERE));
    for (size_t size = sizeof size; size <= 2 * ours; size++) {
        struct built b = build(today, ours, size, 0);
        uint8_t as_today[SIZE_MAX_HERE] __attribute__((aligned(16)));
        uint8_t out[2][ROOM] = { { 0 }, { 0 } };
        const void *const in[2] = { b.bytes, as_today };
        /*
         * A size that cuts a member in half is that of no struct, of today neither. volatile, as the index is: unrolled, or
         * with a first turn of its own (clang 19), the loop would call from two places, which are on the stacks.
         */
        const volatile unsigned count = size % sizeof size != 0 ? 1 : 2;
        enum sfb_status status[2] = { SFB_OK, SFB_OK };

        complete(as_today, b.bytes, ours, size);
        for (volatile unsigned i = 0; i < count; i++)
            status[i] = call(in[i], out[i], ROOM);
        if (size % sizeof size != 0) {
            cr_expect(eq(int, status[0], SFB_NO_SIZE), "%s: %zu bytes", name, size);
        } else {
            cr_expect(eq(int, status[1], SFB_OK), "%s: %zu bytes as today", name, size);
            cr_expect(eq(int, status[0], SFB_OK), "%s: %zu bytes", name, size);
            cr_expect(eq(int, memcmp(out[0], out[1], ROOM), 0), "%s: %zu bytes", name, size);
        }
        guarded_free(&b.at);
    }
}

/* What is not known here, and not zero. */
static void expect_newer_wish_refused(const char *name, const void *today, size_t ours,
                                      call_fn *call)
{
    for (size_t tail = ours; tail < 2 * ours; tail++) {
        struct built b = build(today, ours, 2 * ours, tail);
        uint8_t out[ROOM];

        cr_expect(eq(int, call(b.bytes, out, ROOM), SFB_BAD_ARGUMENT), "%s: byte %zu", name, tail);
        guarded_free(&b.at);
    }
}

/* A size that was forgotten, and one that is what the stack held. */
static void expect_no_size_refused(const char *name, const void *today, size_t ours, call_fn *call)
{
    static const size_t sizes[] = { 0, 1, 4096 + 8, SIZE_MAX - 7 };
    uint8_t bytes[SIZE_MAX_HERE] __attribute__((aligned(16)));
    uint8_t out[ROOM];

    memcpy(bytes, today, ours);
    for (size_t i = 0; i < sizeof sizes / sizeof *sizes; i++) {
        memcpy(bytes, &sizes[i], sizeof sizes[i]);
        cr_expect(eq(int, call(bytes, out, ROOM), SFB_NO_SIZE), "%s: size %zu", name, sizes[i]);
    }
}

static void expect_the_rule(const char *name, const void *today, size_t ours, call_fn *call)
{
    expect_every_size(name, today, ours, call);
    expect_newer_wish_refused(name, today, ours, call);
    expect_no_size_refused(name, today, ours, call);
}

/* --- The five structs ------------------------------------------------------------------------- */

static uint64_t memo[SFRAME_BACKTRACE_MEMO_SIZE(FRAMES) / 8];

/* Its members from `outermost` on change what is found, but not whether there is something. */
static struct sframe_backtrace_options all_options(void)
{
    return (struct sframe_backtrace_options){ .size = sizeof(struct sframe_backtrace_options),
                                              .flags = SFRAME_BACKTRACE_NO_LIBUNWIND,
                                              .skip = 1,
                                              .max_frames = 5,
                                              .outermost = 2,
                                              .stack = memo,
                                              .stack_size = sizeof memo,
                                              .memo = memo,
                                              .memo_size = sizeof memo,
                                              .max_work = 1u << 20 };
}

NOINLINE static enum sfb_status call_cbf(const void *in, uint8_t *out, size_t room)
{
    struct sframe_backtrace_info info = { .size = sizeof info };
    ssize_t size;

    memset(memo, 0, sizeof memo);
    size = sframe_backtrace_cbf(out, room - sizeof info, in, &info);
    if (size < 0)
        return (enum sfb_status) - size;
    memset(out + size, 0, room - (size_t)size); /* scratch space */
    memcpy(out + room - sizeof info, &info, sizeof info);
    return SFB_OK;
}

NOINLINE static enum sfb_status call_addresses(const void *in, uint8_t *out, size_t room)
{
    struct sframe_backtrace_info info = { .size = sizeof info };
    void *addresses[FRAMES] = { NULL };
    ssize_t count;

    memset(memo, 0, sizeof memo);
    count = sframe_backtrace_addresses(addresses, FRAMES, in, &info);
    if (count < 0)
        return (enum sfb_status) - count;
    cr_assert(le(sz, sizeof addresses + sizeof info, room));
    memcpy(out, addresses, sizeof addresses);
    memcpy(out + sizeof addresses, &info, sizeof info);
    return SFB_OK;
}

Test(struct_sizes, of_options_of_cbf)
{
    struct sframe_backtrace_options options = all_options();

    expect_the_rule("options, cbf", &options, sizeof options, call_cbf);
}

Test(struct_sizes, of_options_of_addresses)
{
    struct sframe_backtrace_options options = all_options();

    options.outermost = 0;
    expect_the_rule("options, addresses", &options, sizeof options, call_addresses);
}

static enum sfb_status call_install(const void *in, uint8_t *out, size_t room)
{
    enum sfb_status status = sframe_backtrace_install_crash_handler(in);

    if (status != SFB_OK)
        return status;
    (void)room;
    memcpy(out, &sfb_crash.fd, sizeof sfb_crash.fd);
    memcpy(out + 4, &sfb_crash.flags, sizeof sfb_crash.flags);
    memcpy(out + 8, &sfb_crash.max_frames, sizeof sfb_crash.max_frames);
    memcpy(out + 12, &sfb_crash.outermost, sizeof sfb_crash.outermost);
    for (unsigned i = 0; i < SFB_CRASH_SIGNALS; i++) {
        struct sigaction now;

        sigaction(sfb_crash_signals[i], NULL, &now);
        out[16 + i] = now.sa_sigaction == sfb_crash_handle;
    }
    return sframe_backtrace_uninstall_crash_handler();
}

Test(struct_sizes, of_options_of_the_crash_handler)
{
    struct sframe_backtrace_crash_options options = { .size = sizeof options,
                                                      .fd = 2,
                                                      .flags = SFRAME_BACKTRACE_NO_LIBUNWIND,
                                                      .signals = 1u << SIGFPE,
                                                      .max_frames = 100,
                                                      .outermost = 40 };
    int null = open("/dev/null", O_RDWR);

    /* fd 0 where the member is missing. */
    cr_assert(null >= 0 && dup2(null, 0) == 0);
    expect_the_rule("crash options", &options, sizeof options, call_install);
}

static const struct sfb_module *find_nothing(const struct sfb_modules *modules, uint64_t pc,
                                             struct sfb_module *room)
{
    (void)modules, (void)pc, (void)room;
    return NULL;
}

NOINLINE static enum sfb_status call_walker(const void *in, uint8_t *out, size_t room)
{
    struct sfb_context start;
    struct sfb_walker walker;
    struct sfb_frame frame;
    enum sfb_status status;
    size_t at = sizeof status;

    sfb_context_capture(&start);
    status = sfb_walker_init(&walker, &start, SFB_FRAME_RA, in);
    if (status != SFB_OK)
        return status;
    while ((status = sfb_walker_next(&walker, &frame)) == SFB_OK && at + 8 <= room) {
        memcpy(out + at, &frame.address, 8);
        at += 8;
    }
    memcpy(out, &status, sizeof status);
    return SFB_OK;
}

Test(struct_sizes, of_options_of_the_walker)
{
    static struct sfb_memory nothing;
    static const struct sfb_modules none = { .find = find_nothing };
    struct sfb_walker_options options = { .size = sizeof options,
                                          .flags = SFB_WALKER_NO_LIBUNWIND,
                                          .max_work = 3,
                                          .memory = &nothing,
                                          .modules = &none };

    expect_the_rule("walker options", &options, sizeof options, call_walker);
}

static enum sfb_status call_decoder(const void *in, uint8_t *out, size_t room)
{
    static const uint8_t cbf[] = { 0x02, 0x12, 1, 2, 3, 0x83, 0x20, 8, 0x00 };
    struct sfb_cbf_decoder decoder;
    struct sfb_cbf_item item;
    enum sfb_status status = sfb_cbf_decoder_init(&decoder, cbf, sizeof cbf, in, NULL);
    size_t at = sizeof status;

    if (status != SFB_OK)
        return status;
    while ((status = sfb_cbf_decoder_next(&decoder, &item, NULL)) == SFB_OK && at + 16 <= room) {
        memcpy(out + at, &item.value, 8);
        memcpy(out + at + 8, &item.count, 8);
        at += 16;
    }
    memcpy(out, &status, sizeof status);
    return SFB_OK;
}

Test(struct_sizes, of_options_of_the_decoder)
{
    struct sfb_cbf_decoder_options options = { .size = sizeof options,
                                               .flags = SFB_CBF_EXPAND,
                                               .max_frames = 3 };

    expect_the_rule("decoder options", &options, sizeof options, call_decoder);
}

/* --- What is written -------------------------------------------------------------------------- */

enum door { CBF, ADDRESSES };

NOINLINE static ssize_t capture(enum door door, struct sframe_backtrace_info *info)
{
    static const struct sframe_backtrace_options options = { .size = sizeof options,
                                                             .max_frames = 3 };
    static uint8_t bytes[512];
    static void *addresses[FRAMES];

    return door == CBF ? sframe_backtrace_cbf(bytes, sizeof bytes, &options, info)
                       : sframe_backtrace_addresses(addresses, FRAMES, &options, info);
}

static void expect_every_size_of_info(enum door door)
{
    for (size_t size = sizeof size; size <= 2 * sizeof(struct sframe_backtrace_info); size++) {
        struct sframe_backtrace_info whole = { .size = sizeof whole };
        struct guarded at = guarded_new(2 * sizeof whole);
        uint8_t *theirs = at.end - aligned(size), *known = (uint8_t *)&whole;
        ssize_t got[2] = { 0, 0 };

        memset(theirs, 0xa5, size);
        memcpy(theirs, &size, sizeof size);
        for (unsigned i = 0; i < two; i++)
            got[i] = capture(door, i == 0 ? (void *)theirs : &whole);
        if (size % sizeof size != 0) {
            cr_expect(eq(int, (int)got[0], -SFB_NO_SIZE), "%zu bytes", size);
        } else {
            size_t written = size < sizeof whole ? size : sizeof whole;

            cr_expect(eq(int, (int)got[0], (int)got[1]), "%zu bytes", size);
            cr_expect(eq(u32, whole.frames, 3));
            memcpy(known, &size, sizeof size); /* its size stays the caller's */
            cr_expect(eq(int, memcmp(theirs, known, written), 0), "%zu bytes", size);
            for (size_t i = written; i < size; i++)
                cr_assert(eq(int, theirs[i], 0xa5), "%zu bytes: byte %zu", size, i);
        }
        guarded_free(&at);
    }
}

Test(struct_sizes, of_the_info_of_cbf)
{
    expect_every_size_of_info(CBF);
}

Test(struct_sizes, of_the_info_of_addresses)
{
    expect_every_size_of_info(ADDRESSES);
}

/* Nothing is written where the capture fails. */
Test(struct_sizes, of_an_info_that_is_left_alone)
{
    struct sframe_backtrace_options bad = { .size = sizeof bad, .flags = 0x8000 };
    struct sframe_backtrace_info info = { .size = sizeof info, .frames = 4711 };
    uint8_t bytes[64];

    cr_expect(
        eq(int, (int)sframe_backtrace_cbf(bytes, sizeof bytes, &bad, &info), -SFB_BAD_ARGUMENT));
    cr_expect(eq(u32, info.frames, 4711));
}
