/*
 * A program of another version: built with the headers of 0.1.0 (abi_0_1), with today's, and with today's
 * whose structs have grown (NEWER), and run with today's library. So the library is newer than the program,
 * and older. Each member that leads to something is set, and what it leads to is looked at.
 *
 * sframe_backtrace_addresses() is left out: its last argument is another one since 0.1.0.
 */
#include <signal.h>
#include <stdbool.h>
#include <stdio.h>
#include <string.h>
#include <ucontext.h>

#include "sfb/cbf.h"
#include "sframe_backtrace.h"
#include "sframe_backtrace_crash.h"
#include "support/compiler.h"

enum { DEPTH = 8, FILL = 0xa5 };

static bool failed;

#define CHECK(condition)                                                                           \
    do {                                                                                           \
        if (!(condition)) {                                                                        \
            fprintf(stderr, "%s:%d: not so: %s\n", __FILE__, __LINE__, #condition);                \
            failed = true;                                                                         \
        }                                                                                          \
    } while (0)

static uint8_t bytes[512];

/* What is behind an info is not the library's. */
static struct {
    struct sframe_backtrace_info info;
    uint8_t behind[128];
} out;

NOINLINE static ssize_t capture(unsigned depth, const struct sframe_backtrace_options *options)
{
    ssize_t size;

    if (depth > 0) {
        size = capture(depth - 1, options);
    } else {
        memset(&out, FILL, sizeof out);
        out.info.size = sizeof out.info;
        size = sframe_backtrace_cbf(bytes, sizeof bytes, options, &out.info);
    }
    __asm__ volatile("" ::: "memory"); /* no tail call */
    return size;
}

static bool is_filled(const uint8_t *at, size_t size)
{
    for (size_t i = 0; i < size; i++)
        if (at[i] != FILL)
            return false;
    return true;
}

static void check_info(uint32_t frames, bool omits, enum sfb_status end)
{
    uint32_t sum = 0;

    for (size_t s = 0; s < sizeof out.info.by_source / sizeof *out.info.by_source; s++)
        sum += out.info.by_source[s];
    CHECK(out.info.size == sizeof out.info);
    CHECK(out.info.frames == frames && sum == frames);
    CHECK((out.info.omitted > 0) == omits);
    CHECK(out.info.end == end);
    CHECK(is_filled(out.behind, sizeof out.behind));
#ifdef NEWER
    CHECK(is_filled((uint8_t *)out.info.newer, sizeof out.info.newer));
#endif
}

static void check_options(void)
{
    static uint64_t memo[SFRAME_BACKTRACE_MEMO_SIZE(64) / 8], none[sizeof memo / 8];
    struct sframe_backtrace_options options = { .size = sizeof options };
    uint32_t all;

    CHECK(capture(DEPTH, &options) > 0);
    all = out.info.frames;
    CHECK(all > DEPTH);
    check_info(all, false, SFB_END);
    options.skip = 2;
    options.flags = SFRAME_BACKTRACE_NO_LIBUNWIND;
    CHECK(capture(DEPTH, &options) > 0);
    check_info(all - 2, false, SFB_END);
    options.max_frames = 5;
    CHECK(capture(DEPTH, &options) > 0);
    check_info(5, false, SFB_FRAME_LIMIT);
    options.outermost = 2;
    CHECK(capture(DEPTH, &options) > 0);
    check_info(5, true, SFB_END);
    options.stack = memo;
    options.stack_size = sizeof memo;
    options.memo = memo;
    options.memo_size = sizeof memo;
    CHECK(capture(DEPTH, &options) > 0);
    CHECK(memcmp(memo, none, sizeof memo) != 0);
    options.max_work = 1;
    options.outermost = 0;
    CHECK(capture(DEPTH, &options) > 0);
    CHECK(out.info.end == SFB_WORK_LIMIT);
    options.flags = 0x8000;
    CHECK(capture(DEPTH, &options) == -SFB_BAD_ARGUMENT);
#ifdef NEWER
    options.flags = 0;
    options.newer[1] = 1; /* a wish that this library does not know */
    CHECK(capture(DEPTH, &options) == -SFB_BAD_ARGUMENT);
#endif
}

#ifdef SFRAME_BACKTRACE_VERSION
static bool read_own(void *words, uint64_t address, uint64_t *word)
{
    ++*(unsigned *)words;
    memcpy(word, (const void *)(uintptr_t)address,
           sizeof *word); /* NOLINT: a walk of its own stack */
    return true;
}

/* What 0.1.0 has not. */
static void check_newer_options(void)
{
    struct sframe_backtrace_options options = { .size = sizeof options };
    struct sframe_backtrace_resume state = { { 0 } };
    unsigned words = 0;
    uint32_t all;

    CHECK(capture(DEPTH, &options) > 0);
    all = out.info.frames;
    options.read = read_own;
    options.read_user = &words;
    CHECK(capture(DEPTH, &options) > 0);
    check_info(all, false, SFB_END);
    CHECK(words >= DEPTH);
    options.resume = &state;
    CHECK(capture(DEPTH, &options) > 0);
    CHECK(capture(DEPTH, &options) > 0);
    check_info(0, false, SFB_END);
}
#else
static void check_newer_options(void)
{
}
#endif

static void check_context(void)
{
    struct sfb_cbf_decoder_options how = { .size = sizeof how, .flags = SFB_CBF_EXPAND };
    struct sframe_backtrace_options options = { .size = sizeof options };
    struct sfb_cbf_decoder decoder;
    struct sfb_cbf_item item;
    ucontext_t context;
    ssize_t size;

    CHECK(getcontext(&context) == 0);
    options.context = &context;
    size = capture(0, &options);
    CHECK(size > 0 && sfb_cbf_decoder_init(&decoder, bytes, (size_t)size, &how, NULL) == SFB_OK);
    CHECK(sfb_cbf_decoder_next(&decoder, &item, NULL) == SFB_OK && item.kind == SFB_FRAME_PC);
#ifdef NEWER
    how.newer[0] = 1;
    CHECK(sfb_cbf_decoder_init(&decoder, bytes, (size_t)size, &how, NULL) == SFB_BAD_ARGUMENT);
#endif
}

static bool has_handler(int number)
{
    struct sigaction now;

    sigaction(number, NULL, &now);
    return now.sa_flags & SA_SIGINFO;
}

static void check_crash_handler(void)
{
    static struct sframe_backtrace_crash_options options = {
        .size = sizeof options, .fd = 2, .signals = 1u << SIGFPE, .max_frames = 10, .outermost = 10
    };

    CHECK(sframe_backtrace_install_crash_handler(&options) == SFB_OK);
    CHECK(has_handler(SIGFPE) && !has_handler(SIGSYS));
    CHECK(sframe_backtrace_uninstall_crash_handler() == SFB_OK);
    options.outermost = 11; /* above max_frames */
    CHECK(sframe_backtrace_install_crash_handler(&options) == SFB_BAD_ARGUMENT);
    options.outermost = 10;
#ifdef NEWER
    options.newer[0] = 1;
#else
    options.fd = -1;
#endif
    CHECK(sframe_backtrace_install_crash_handler(&options) == SFB_BAD_ARGUMENT);
}

int main(void)
{
    void *addresses[DEPTH];

    check_options();
    check_newer_options();
    check_context();
    check_crash_handler();
    CHECK(sframe_backtrace(addresses, DEPTH) > 0);
    return failed;
}
