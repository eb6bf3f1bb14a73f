/*
 * A program whose heap the agent keeps a table of. It uses all of malloc()'s family in four threads, keeps what the words
 * ask for, and waits.
 *
 *     agent_program WAY [N]
 *
 *     mixed     what it does to blocks is right; 100 blocks of 1,000 bytes live at the end. N 1: no valloc(), no pvalloc();
 *               2: and no large alignments
 *     forked    so does a child, in its own table
 *     environ   a child allocates while its environment is garbage
 *     linked    it asks for the table by itself, with blocks that are older; with N it dumps to descriptor N
 *     stops     it begins and ends tables, while threads allocate and one dumps
 *     strict    sets the strictest filter of system calls, and goes on allocating
 *     exits     _exit() in a child; loads and unloads libraries
 *     plugin    gives blocks to a library (N: its path) that was opened with RTLD_DEEPBIND, and frees blocks of it
 *     second    the same without RTLD_DEEPBIND
 *     frees     frees what is no block: N is "middle", "stack", "again", or the word that stands before a block, in hexadecimal
 *     pairs     N million malloc() and free() at depth 8; prints ns a pair
 *     many      N blocks of 32 bytes
 *     user      of root: becomes another user by N: setuid, setreuid or setresuid; "for-now": by seteuid()
 */
#include <dlfcn.h>
#include <errno.h>
#include <fcntl.h>
#include <linux/seccomp.h>
#include <malloc.h>
#include <pthread.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/auxv.h>
#include <sys/prctl.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include "sframe_backtrace_record.h"

enum { BLOCKS = 300, STEPS = 30000, THREADS = 4, KEPT = 100 };

static const char *wrong;
/* valloc() and pvalloc(), too: jemalloc has no pvalloc(). Large alignments: memalign(512, 512) of mimalloc 2.0.9 is not
 * aligned. */
static bool odd = true, wide = true;

static void fail(const char *what)
{
    __atomic_store_n(&wrong, what, __ATOMIC_RELAXED);
}

static uint64_t draw(uint64_t *state)
{
    *state ^= *state << 13;
    *state ^= *state >> 7;
    *state ^= *state << 17;
    return *state >> 11;
}

struct block {
    unsigned char *at;
    size_t size;
    unsigned char mark;
};

static void *aligned(void *p, size_t alignment)
{
    if ((uintptr_t)p % alignment != 0)
        fail("an alignment is lost");
    return p;
}

static void *get(uint64_t *seed, size_t size)
{
    static const size_t alignments[] = { 8, 16, 64, 512, 4096, 65536 };
    const size_t alignment = alignments[draw(seed) % (wide ? 6 : 2)];
    void *p = NULL;

    switch (draw(seed) % (odd ? 12 : 10)) {
    case 0:
        p = calloc(1 + size / 7, 7);
        for (size_t i = 0; i < size; i++)
            if (((unsigned char *)p)[i] != 0)
                fail("calloc() is not zero");
        return p;
    case 1: return aligned(memalign(alignment, size), alignment);
    case 2: return aligned(aligned_alloc(alignment, size), alignment);
    case 3: return posix_memalign(&p, alignment, size) == 0 ? aligned(p, alignment) : NULL;
    case 4: return reallocarray(NULL, 1 + size / 5, 5);
    case 5: return realloc(NULL, size);
    case 10: return aligned(valloc(size), 4096);
    case 11: return aligned(pvalloc(size), 4096);
    default: return malloc(size);
    }
}

static void check(const struct block *b, size_t size)
{
    for (size_t i = 0; i < size; i++)
        if (b->at[i] != b->mark)
            fail("bytes are lost");
}

static void fill(struct block *b, uint64_t *seed)
{
    const size_t usable = malloc_usable_size(b->at);

    if (usable < b->size)
        fail("less is usable than was asked for");
    b->mark = (unsigned char)draw(seed);
    memset(b->at, b->mark, usable); /* a program may */
}

static void step(struct block *b, uint64_t *seed)
{
    const size_t size = draw(seed) % ((size_t)1 << draw(seed) % 16) + 1;

    if (!b->at) {
        b->at = get(seed, size);
        b->size = size;
        fill(b, seed);
    } else if (draw(seed) % 3 == 0) {
        const size_t kept = size < b->size ? size : b->size;

        if (draw(seed) % 64 == 0 && realloc(b->at, (size_t)PTRDIFF_MAX - 2))
            fail("more than there is was given out");
        b->at = draw(seed) % 2 ? realloc(b->at, size) : reallocarray(b->at, 1, size);
        check(b, kept);
        b->size = size;
        fill(b, seed);
    } else {
        check(b, b->size);
        free(b->at);
        b->at = NULL;
    }
}

static void *mix(void *with)
{
    struct block *blocks = calloc(BLOCKS, sizeof *blocks);
    uint64_t seed = 88172645463325252U + (uint64_t)(uintptr_t)with;

    for (int i = 0; blocks && i < STEPS; i++)
        step(&blocks[draw(&seed) % BLOCKS], &seed);
    for (int i = 0; blocks && i < BLOCKS; i++)
        free(blocks[i].at);
    free(blocks);
    return NULL;
}

__attribute__((noinline)) static void *keep_a_pearl(size_t size)
{
    void *p = malloc(size);

    __asm__ volatile("" : : "r"(p) : "memory");
    return p;
}

static void keep(int count, size_t size)
{
    static void *kept; /* the last one */

    while (count-- > 0) {
        kept = keep_a_pearl(size);
        if (!kept)
            fail("no memory");
    }
}

static void mix_in_threads(void)
{
    pthread_t threads[THREADS];

    for (uintptr_t i = 0; i < THREADS; i++)
        if (pthread_create(&threads[i], NULL, mix, (void *)i) != 0)
            fail("no thread"); /* NOLINT(performance-no-int-to-ptr) */
    for (int i = 0; i < THREADS; i++)
        pthread_join(threads[i], NULL);
}

static int wait_for_a_byte(pid_t pid)
{
    char byte;

    printf("ready %d\n", (int)pid);
    fflush(stdout);
    if (wrong)
        fprintf(stderr, "%s\n", wrong);
    return read(STDIN_FILENO, &byte, 1) < 0 || wrong ? 1 : 0;
}

static int forked(void)
{
    void *inherited = keep_a_pearl(77);
    const pid_t pid = fork();
    int status = 0;

    if (pid == 0) {
        free(inherited);
        mix(NULL);
        keep(KEPT, 1000);
        exit(wait_for_a_byte(getpid()));
    }
    waitpid(pid, &status, 0);
    free(inherited);
    return WIFEXITED(status) ? WEXITSTATUS(status) : 99;
}

#ifdef LIVE_HEAP_PRELOADED
static int linked(int fd)
{
    return fd;
}

static int say_file(void)
{
    return 97;
}

static int stops(void)
{
    return 97;
}
#else
static uint32_t over;

static void *mix_until_over(void *argument)
{
    while (!__atomic_load_n(&over, __ATOMIC_RELAXED))
        mix(argument);
    return NULL;
}

static void *dump_until_over(void *argument)
{
    const int fd = open("/dev/null", O_WRONLY);

    while (!__atomic_load_n(&over, __ATOMIC_RELAXED))
        sframe_backtrace_heap_dump(fd, 0);
    close(fd);
    return argument;
}

static int stops(void)
{
    const struct timespec moment = { .tv_nsec = 500000 };
    pthread_t threads[3];

    for (int i = 0; i < 3; i++)
        if (pthread_create(&threads[i], NULL, i < 2 ? mix_until_over : dump_until_over, NULL) != 0)
            fail("no thread");
    for (int i = 0; i < 60; i++) {
        if (sframe_backtrace_heap_start(NULL) != SFB_OK)
            fail("no table");
        nanosleep(&moment, NULL); /* for others to use it; how many do, makes no difference */
        if (sframe_backtrace_heap_stop() != SFB_OK)
            fail("it does not stop");
    }
    __atomic_store_n(&over, 1, __ATOMIC_RELAXED);
    for (int i = 0; i < 3; i++)
        pthread_join(threads[i], NULL);
    return wrong ? (fprintf(stderr, "%s\n", wrong), 1) : 0;
}

/* Where its file is, and whether its environment is its caller's. */
static int say_file(void)
{
    if (sframe_backtrace_heap_start(NULL) != SFB_OK)
        return 1;
    printf("secure %lu file '%s'\n", getauxval(AT_SECURE), sframe_backtrace_heap_file());
    return 0;
}

static int linked(int fd)
{
    struct sframe_backtrace_heap_options options = SFRAME_BACKTRACE_HEAP_OPTIONS_INIT;
    void *old[50];

    for (int i = 0; i < 50; i++)
        old[i] = malloc(200);
    options.live = 4 << 20;
    if (sframe_backtrace_heap_dump(fd, 0) != SFB_BAD_ARGUMENT)
        fail("a dump of nothing");
    if (sframe_backtrace_heap_start(&options) != SFB_OK)
        fail("no table");
    if (sframe_backtrace_heap_start(NULL) != SFB_BAD_ARGUMENT)
        fail("two tables");
    for (int i = 0; i < 25; i++)
        free(old[i]);
    for (int i = 25; i < 50; i++)
        old[i] = realloc(old[i], 300);
    keep(KEPT, 1000);
    if (access(sframe_backtrace_heap_file(), F_OK) != 0)
        fail("no file");
    if (sframe_backtrace_heap_dump(fd, SFRAME_BACKTRACE_HEAP_CHECK_TAILS) != SFB_OK)
        fail("no dump");
    if (sframe_backtrace_heap_stop() != SFB_OK)
        fail("it does not stop");
    if (sframe_backtrace_heap_stop() != SFB_BAD_ARGUMENT)
        fail("it does not stop");
    for (int i = 25; i < 50; i++)
        free(old[i]);
    mix(NULL);
    if (sframe_backtrace_heap_start(&options) != SFB_OK)
        fail("it does not start again");
    mix(NULL);
    return wrong ? (fprintf(stderr, "%s\n", wrong), 1) : 0;
}
#endif

/* glibc's exit() makes calls that are not allowed either. Nor may malloc() ask for memory again that free() gave back. */
static int strict(void)
{
    void *blocks[2000];

    mallopt(M_TRIM_THRESHOLD, 64 << 20);
    for (int round = 0; round < 2; round++) {
        for (int i = 0; i < 2000; i++)
            blocks[i] = malloc(100);
        for (int i = 0; i < 2000; i++)
            free(blocks[i]);
        if (round == 0 && prctl(PR_SET_SECCOMP, SECCOMP_MODE_STRICT) != 0)
            return 96;
    }
    syscall(SYS_exit, 0);
    return 95;
}

/* What servers do once they have their ports. */
static int become(const char *way)
{
    const uid_t other = 65534;

    keep(KEPT, 1000);
    if (strcmp(way, "setuid") == 0      ? setuid(other)
        : strcmp(way, "setreuid") == 0  ? setreuid(other, other)
        : strcmp(way, "setresuid") == 0 ? setresuid(other, other, other)
                                        : setresuid((uid_t)-1, other, (uid_t)-1))
        return 94;
    keep(KEPT, 1000);
    return wait_for_a_byte(getpid());
}

/* As bash does when it is about to make a new one. */
static int garbage_environment(void)
{
    static char *garbage[] = { (char *)8, NULL };
    int status;
    const pid_t pid = fork();

    if (pid == 0) {
        environ = garbage;
        keep(1000, 10);
        _exit(0);
    }
    return waitpid(pid, &status, 0) == pid ? status : 1;
}

static int exits(void)
{
    for (int i = 0; i < 3; i++) {
        void *handle = dlopen("libm.so.6", RTLD_NOW);

        keep(3, 10);
        if (handle)
            dlclose(handle);
    }
    for (int i = 0; i < 5; i++) {
        const pid_t pid = fork();

        if (pid == 0) {
            keep(1000, 10);
            _exit(0);
        }
        waitpid(pid, NULL, 0);
    }
    return wait_for_a_byte(getpid());
}

/* The allocator ends it, or not. */
static int frees(const char *what)
{
    char *volatile block = malloc(3000), *volatile next = malloc(3000);
    char *volatile hidden = block; /* the compiler knows nothing of it */
    char on_stack[64] = { 1 };

    memset(block, 1, 3000);
    if (strcmp(what, "stack") == 0) {
        hidden = on_stack + 16;
    } else if (strcmp(what, "middle") == 0) {
        hidden = block + 16;
    } else if (strcmp(what, "again") == 0) {
        free(block);
        free(next); /* both are at the end of the heap */
    } else {
        *(volatile uint64_t *)(void *)(block - sizeof(uint64_t)) = strtoull(what, NULL, 16);
    }
    free(hidden);
    return 0; /* cppcheck-suppress memleak; the free() before ends the program, or is of no block */
}

static int plugin(const char *path, int flags)
{
    enum { ROUNDS = 20000 };
    void *const handle = dlopen(path, RTLD_NOW | flags);
    void *const make_at = handle ? dlsym(handle, "plugin_make") : NULL;
    void *const drop_at = handle ? dlsym(handle, "plugin_drop") : NULL;
    void *(*make)(size_t);
    void (*drop)(void *);

    if (!make_at || !drop_at)
        return 94;                        /* cppcheck-suppress resourceLeak; the program ends */
    memcpy(&make, &make_at, sizeof make); /* ISO C has no cast from object to function */
    memcpy(&drop, &drop_at, sizeof drop);
    for (size_t i = 0; i < ROUNDS; i++) {
        void *const ours = malloc(100 + i % 50), *theirs;

        memset(ours, 7, 100);
        drop(ours);
        theirs = make(100 + i % 50);
        memset(theirs, 9, malloc_usable_size(theirs));
        free(theirs);
    }
    keep(KEPT, 1000);
    return wait_for_a_byte(getpid());
}

__attribute__((noinline)) static void at_depth(int depth, long count)
{
    if (depth > 0) {
        at_depth(depth - 1, count);
        __asm__ volatile("" : : : "memory");
        return;
    }
    for (long i = 0; i < count; i++) {
        void *p = malloc((size_t)(i % 100) + 1);

        __asm__ volatile("" : : "r"(p) : "memory");
        free(p);
    }
}

static int pairs(long millions)
{
    struct timespec a, b;

    clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &a);
    at_depth(4, millions * 1000000); /* main() and what calls it are four */
    clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &b);
    printf("%.1f ns\n", ((double)(b.tv_sec - a.tv_sec) * 1e9 + (double)(b.tv_nsec - a.tv_nsec)) /
                            (double)millions / 1e6);
    return 0;
}

/* Past the C library: the agent does not see it. */
static int drops(int user)
{
    keep(100, 10);
    if (syscall(SYS_setuid, user) != 0)
        return 94;
    return wait_for_a_byte(getpid());
}

int main(int argc, char **argv)
{
    const char *way = argc > 1 ? argv[1] : "";
    const int n = argc > 2 ? atoi(argv[2]) : 0;

    if (strcmp(way, "mixed") == 0) {
        odd = n == 0;
        wide = n != 2;
        mix_in_threads();
        keep(KEPT, 1000);
        return wait_for_a_byte(getpid());
    }
    if (strcmp(way, "many") == 0) {
        keep(n, 32);
        return wait_for_a_byte(getpid());
    }
    if (strcmp(way, "forked") == 0)
        return forked();
    if (strcmp(way, "linked") == 0)
        return linked(n);
    if (strcmp(way, "file") == 0)
        return say_file();
    if (strcmp(way, "strict") == 0)
        return strict();
    if (strcmp(way, "stops") == 0)
        return stops();
    if (strcmp(way, "plugin") == 0)
        return plugin(argc > 2 ? argv[2] : "", RTLD_DEEPBIND);
    if (strcmp(way, "second") == 0)
        return plugin(argc > 2 ? argv[2] : "", 0);
    if (strcmp(way, "frees") == 0)
        return frees(argc > 2 ? argv[2] : "");
    if (strcmp(way, "environ") == 0)
        return garbage_environment();
    if (strcmp(way, "exits") == 0)
        return exits();
    if (strcmp(way, "user") == 0)
        return become(argc > 2 ? argv[2] : "");
    if (strcmp(way, "drops") == 0)
        return drops(n);
    return strcmp(way, "pairs") == 0 ? pairs(n) : 98;
}
