/*
 * Walks of few frames, one after the other, for bench/instructions: what does a walk cost before its first frame, and for
 * modules that may be unloaded?
 *
 *     bench-fixed              walks each once, behind those that warm it up
 *     bench-fixed --apart N    the same, with N pages between the modules
 *     bench-fixed NAME         says of one what it has found: for people
 *
 * Where modules lie decides which addresses share a slot of the rule cache, and the second slot costs a few instructions.
 * Under callgrind, which counts in sframe_backtrace*() only, measured_walk() is one count.
 */
#include <dlfcn.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>

#include "part.h"

enum { PARTS = 8, WARM = 4, STEPS = 12, MEMO_FRAMES = 64 };

static const struct kind {
    const char *name;
    enum walk_kind walk;
    bool memo, hash;
} kinds[] = {
    { "addresses", WALK_ADDRESSES, false, false },
    { "addresses, info", WALK_INFO, false, false },
    { "addresses, context", WALK_CONTEXT, false, false },
    { "cbf", WALK_CBF, false, false },
    { "addresses, memo", WALK_ADDRESSES, true, false },
    { "cbf, memo", WALK_CBF, true, false },
    { "addresses, memo, hash", WALK_ADDRESSES, true, true },
};

static const unsigned modules[] = { 0, 1, PARTS }, frames[] = { 1, 5, 8 };

static part_function *steps[1 + PARTS][2], *walks[1 + PARTS]; /* 0: of the program */

static uint64_t memo[SFRAME_BACKTRACE_HASHED_MEMO_SIZE(MEMO_FRAMES) / 8];
static uint64_t hash;

static int load(size_t apart)
{
    steps[0][0] = part_step;
    steps[0][1] = part_turn;
    walks[0] = part_walk;
    for (unsigned i = 1; i <= PARTS; i++) {
        char path[4096];
        void *library;

        if (apart > 0 &&
            mmap(NULL, apart, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0) == MAP_FAILED) {
            perror("bench-fixed");
            return -1;
        }
        snprintf(path, sizeof path, "%s/fixed-%u.so", BENCH_FIXED_DIR, i);
        library = dlopen(path, RTLD_NOW | RTLD_LOCAL);
        if (library == NULL) {
            fprintf(stderr, "bench-fixed: %s\n", dlerror());
            return -1;
        }
        *(void **)&steps[i][0] = dlsym(library, "part_step");
        *(void **)&steps[i][1] = dlsym(library, "part_turn");
        *(void **)&walks[i] = dlsym(library, "part_walk");
    }
    return 0; /* cppcheck-suppress resourceLeak; they stay loaded to the end */
}

/* One walk, and the count is written. */
__attribute__((noinline)) void measured_walk(struct walk *walk, part_function *const *path);
__attribute__((noinline)) void measured_walk(struct walk *walk, part_function *const *path)
{
    walk->next = path + 1;
    path[0](walk);
    __asm__ volatile("");
}

/* The same from one place, so that a memo knows the stack. */
static void repeat(struct walk *walk, part_function *const *path, unsigned times)
{
    for (unsigned i = 0; i < times; i++) {
        measured_walk(walk, path);
    }
}

/* Innermost last: each frame in the next one of the modules. */
static void make_path(part_function **path, unsigned module_count)
{
    for (unsigned i = 0; i < STEPS; i++) {
        unsigned module = module_count == 0 ? 0 : 1 + (STEPS - 1 - i) % module_count;

        path[i] = i < STEPS - 1 ? steps[module][i % 2] : walks[module];
    }
}

static int run(const char *name, const char *only, const struct kind *kind,
               part_function *const *path, unsigned frame_count)
{
    static struct walk walk;

    if (only != NULL && strcmp(only, name) != 0) {
        return 0;
    }
    memset(&walk, 0, sizeof walk);
    memset(memo, 0, sizeof memo);
    walk.kind = kind->walk;
    walk.size = (int)frame_count;
    walk.options = (struct sframe_backtrace_options)SFRAME_BACKTRACE_OPTIONS_INIT;
    walk.options.max_frames = frame_count;
    walk.options.memo = kind->memo ? memo : NULL;
    walk.options.memo_size = kind->memo ? sizeof memo : 0;
    walk.options.hash = kind->hash ? &hash : NULL;
    repeat(&walk, path, WARM + 1);
    if (walk.result <= 0) {
        fprintf(stderr, "bench-fixed: %s: %d\n", name, walk.result);
        return 1;
    }
    printf("%s\n", name);
    for (int i = 0; only != NULL && kind->walk != WALK_CBF && i < walk.result; i++) {
        Dl_info info;

        printf("    %s\n", dladdr(walk.addresses[i], &info) != 0 ? info.dli_fname : "?");
    }
    return 0;
}

int main(int argc, char **argv)
{
    const bool spread = argc == 3 && strcmp(argv[1], "--apart") == 0;
    const size_t apart = spread ? strtoul(argv[2], NULL, 10) * 4096 : 0;
    const char *only = argc == 2 ? argv[1] : NULL;
    part_function *path[STEPS];
    char name[128];

    if ((argc > 2 && !spread) || load(apart) != 0) {
        return 2;
    }
    for (unsigned k = 0; k < sizeof kinds / sizeof *kinds; k++) {
        for (unsigned m = 0; m < sizeof modules / sizeof *modules; m++) {
            make_path(path, modules[m]);
            for (unsigned f = 0; f < sizeof frames / sizeof *frames; f++) {
                snprintf(name, sizeof name, "%s, %u modules, %u frames", kinds[k].name, modules[m],
                         frames[f]);
                if (run(name, only, &kinds[k], path, frames[f]) != 0) {
                    return 1;
                }
            }
        }
    }
    /* From main() through one library to the end, by the shortest of our functions. */
    path[0] = walks[1];
    return run("sframe_backtrace(), 1 modules, to the end", only,
               &(struct kind){ "", WALK_SHORT, false, false }, path, 64);
}
