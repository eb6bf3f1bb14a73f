/*
 * Walks from inside malloc() of whatever program it is preloaded into: at every 64th call each peer
 * captures the very same stack, and who comes first changes from call to call.
 *
 *     BENCH_MALLOC_NAME=name BENCH_MALLOC_RECORDS=file LD_PRELOAD=libbench-malloc.so program
 *
 * At exit it appends records (see results.h) to the file.
 */
#include <dlfcn.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "sfb/cbf.h"
#include "sframe_backtrace.h"
#include "timing.h"

enum { EVERY = 64, SAMPLES_MAX = 20000, FRAMES_MAX = 256, FEWEST = 16 };

static int (*glibc_backtrace)(void **buffer, int size);
static int (*unw_backtrace)(void **buffer, int size);
static uint8_t cbf[FRAMES_MAX * 9 + 16];
static ssize_t cbf_size;

static int walk_cbf(void **out, int size)
{
    struct sframe_backtrace_options options = { .size = sizeof options,
                                                .max_frames = (uint32_t)size };

    (void)out;
    cbf_size = sframe_backtrace_cbf(cbf, sizeof cbf, &options, NULL);
    return 0;
}

static int walk_addresses(void **out, int size)
{
    int frames = sframe_backtrace(out, size);

    __asm__ volatile("" : "+r"(frames)); /* no jump: this frame is part of the stack */
    return frames;
}

static int walk_unw_backtrace(void **out, int size)
{
    int frames = unw_backtrace == NULL ? 0 : unw_backtrace(out, size);

    __asm__ volatile("" : "+r"(frames));
    return frames;
}

static int walk_glibc(void **out, int size)
{
    int frames = glibc_backtrace(out, size);

    __asm__ volatile("" : "+r"(frames));
    return frames;
}

/* Named as in peers.h. */
static struct walk {
    const char *name;
    int (*run)(void **out, int size);
    int frames;
    void *addresses[FRAMES_MAX];
    double ns[SAMPLES_MAX]; /* a frame */
    double total_frames, same;
} walks[] = {
    { .name = "sframe_backtrace_cbf()", .run = walk_cbf },
    { .name = "sframe_backtrace()", .run = walk_addresses },
    { .name = "unw_backtrace()", .run = walk_unw_backtrace },
    { .name = "glibc backtrace()", .run = walk_glibc },
};
enum { WALKS = sizeof walks / sizeof *walks, REFERENCE = 3 };

static size_t samples;
static atomic_bool ready;
static atomic_flag taken = ATOMIC_FLAG_INIT;
static _Thread_local bool inside __attribute__((tls_model("initial-exec")));

static void decode(struct walk *walk)
{
    struct sfb_cbf_decoder decoder;
    struct sfb_cbf_item item;

    walk->frames = 0;
    if (cbf_size <= 0 ||
        sfb_cbf_decoder_init(&decoder, cbf, (size_t)cbf_size, NULL, NULL) != SFB_OK) {
        return;
    }
    while (sfb_cbf_decoder_next(&decoder, &item, NULL) == SFB_OK) {
        for (uint64_t i = 0; i < item.count && walk->frames < FRAMES_MAX; i++) {
            walk->addresses[walk->frames++] = (void *)(uintptr_t)item.value;
        }
    }
}

/* The innermost frame is each walk's own function. */
static bool same(const struct walk *a, const struct walk *b)
{
    return a->frames == b->frames && a->frames > 1 &&
           memcmp(a->addresses + 1, b->addresses + 1,
                  sizeof *a->addresses * (size_t)(a->frames - 1)) == 0;
}

static void sample(void)
{
    uint64_t ns[WALKS];

    for (size_t i = 0; i < WALKS; i++) {
        size_t w = (samples + i) % WALKS;
        uint64_t start = timing_now();

        walks[w].frames = walks[w].run(walks[w].addresses, FRAMES_MAX);
        ns[w] = timing_less_clock(timing_now() - start);
    }
    decode(&walks[0]);
    for (size_t w = 0; w < WALKS; w++) {
        walks[w].ns[samples] = walks[w].frames > 0 ? (double)ns[w] / walks[w].frames : 0;
        walks[w].total_frames += walks[w].frames;
        walks[w].same += same(&walks[w], &walks[REFERENCE]);
    }
    samples++;
}

void *__libc_malloc(size_t size); /* NOLINT: glibc's own, which needs no dlsym() to be found */

void *malloc(size_t size)
{
    static atomic_uint calls;
    void *memory = __libc_malloc(size);

    /* What a walk allocates itself is none of the program's. */
    if (!atomic_load_explicit(&ready, memory_order_relaxed) || inside ||
        atomic_fetch_add_explicit(&calls, 1, memory_order_relaxed) % EVERY != 0) {
        return memory;
    }
    inside = true;
    if (!atomic_flag_test_and_set(&taken)) {
        if (samples < SAMPLES_MAX) {
            sample();
        }
        atomic_flag_clear(&taken);
    }
    inside = false;
    return memory;
}

static void load(const char *library, int flags, const char *name, void *function)
{
    void *handle = dlopen(library, RTLD_NOW | flags);
    void *symbol = handle == NULL ? NULL : dlsym(handle, name);

    memcpy(function, &symbol, sizeof symbol);
    /* cppcheck-suppress resourceLeak; it stays loaded to the end */
}

__attribute__((constructor)) static void begin(void)
{
    load("libc.so.6", RTLD_NOLOAD, "backtrace", &glibc_backtrace);
    load("libunwind.so.8", RTLD_LOCAL, "unw_backtrace", &unw_backtrace);
    timing_less_clock(0);
    atomic_store(&ready, getenv("BENCH_MALLOC_RECORDS") != NULL && glibc_backtrace != NULL);
}

__attribute__((destructor)) static void end(void)
{
    const char *name = getenv("BENCH_MALLOC_NAME");
    FILE *out;

    inside = true;
    /* Of programs that start others, only those that allocate. */
    if (!atomic_load(&ready) || samples < FEWEST || name == NULL ||
        (out = fopen(getenv("BENCH_MALLOC_RECORDS"), "a")) == NULL) {
        return;
    }
    for (size_t w = 0; w < WALKS; w++) {
        const struct walk *walk = &walks[w];

        if (walk->total_frames > 0) {
            fprintf(out, "malloc\t%s\t%s\t%.6g\n", name, walk->name,
                    timing_spread(walks[w].ns, samples).median);
            fprintf(out, "malloc\t%s, depth\t%s\t%.6g\n", name, walk->name,
                    walk->total_frames / (double)samples);
            fprintf(out, "malloc\t%s, same\t%s\t%.6g\n", name, walk->name,
                    100 * walk->same / (double)samples);
        }
    }
    fclose(out);
}
