/*
 * A program with a live table, made to order: words say what it does, one after the other. It says "ready" on stdout where
 * it waits. The blocks are allocated as the hooks would.
 *
 *     blocks N SIZE   allocate N blocks        free N      free every Nth of them
 *     overrun N       write over N tails       churn N     N threads that allocate and free until the end
 *     wait            until a byte comes       dump FILE   sframe_backtrace_heap_dump()
 *     signal          send itself the signal   exec        executes itself: "wait"
 *     where FILE      write the address of the first block into a file
 *     stacks N        allocate N blocks, each with a stack of its own
 *     exit            _exit()                  cost N     ns of N million pairs: the stack's name, and all of it
 */
#include <fcntl.h>
#include <malloc.h>
#include <pthread.h>
#include <sched.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#include "profiler/agent/live/settings.h"
#include "profiler/tests/live_heap/blocks.h"
#include "profiler/tests/live_heap/named.h"
#include "sframe_backtrace_record.h"
#include "unwind/capture/stack_name.h"

static char **blocks;
static size_t count;

__attribute__((noinline)) static void *make_a_pearl(size_t size)
{
    char *p = block_new(size);

    __asm__ volatile("" : : "r"(p) : "memory");
    return p;
}

static void make(size_t n, size_t size)
{
    blocks = reallocarray(blocks, count + n, sizeof *blocks);
    if (!blocks)
        exit(99);
    while (n-- > 0)
        blocks[count++] = make_a_pearl(size);
}

static void free_each(size_t step)
{
    for (size_t i = 0; i < count; i += step)
        if (blocks[i]) {
            block_free(blocks[i]);
            blocks[i] = NULL;
        }
}

static void overrun(size_t n)
{
    for (size_t i = 0; i < count && n > 0; i++)
        if (blocks[i]) {
            memset(blocks[i] + malloc_usable_size(blocks[i]) - 4, 'x', 4);
            n--;
        }
}

static size_t at_work; /* threads that have blocks */

static void *churn(void *with)
{
    void *p[64] = { NULL };

    for (uint64_t i = 0;; i++) {
        void **at = &p[i * 7919 % 64];

        if (*at)
            block_free(*at);
        *at = block_new(i * 31 % 500);
        if (i == 256)
            __atomic_fetch_add(&at_work, 1, __ATOMIC_RELAXED);
        if (i % 4096 == 0)
            usleep(100); /* others want a processor, too */
    }
    return with;
}

static double seconds(void)
{
    struct timespec t;

    clock_gettime(CLOCK_THREAD_CPUTIME_ID, &t);
    return (double)t.tv_sec + (double)t.tv_nsec * 1e-9;
}

/* What the slot costs beside the stack's name: both as the hooks do it, without the allocator. */
static void cost(size_t millions)
{
    static struct sfb_stack_namer namer;
    const struct sfb_regs caller = { .pc = (uint64_t)(uintptr_t)__builtin_return_address(0),
                                     .sp = (uint64_t)(uintptr_t)__builtin_dwarf_cfa(),
                                     .fp = *(uint64_t *)__builtin_frame_address(0) };
    void *p = malloc(100);
    const size_t usable = malloc_usable_size(p), pairs = millions * 1000000;
    double begin = seconds(), named, all;
    uint64_t sum = 0;

    for (size_t i = 0; i < pairs; i++)
        sum += sfb_stack_name(&namer, &caller);
    named = seconds() - begin;
    begin = seconds();
    for (size_t i = 0; i < pairs; i++) {
        sfb_live_allocated(p, 96, usable, &caller);
        sfb_live_freed(p, usable);
    }
    all = seconds() - begin;
    free(p);
    printf("name %.1f ns, with table %.1f ns%s\n", named / (double)pairs * 1e9,
           all / (double)pairs * 1e9, sum == 1 ? " " : "");
}

/* Frames of no module: the walk ends there. */
static void make_stacks(size_t n)
{
    for (uint32_t i = 0; i < n; i++)
        named_new(100, i);
}

static size_t number(const char *word)
{
    return word ? strtoull(word, NULL, 10) : 0;
}

static void wait_for_a_byte(void)
{
    char byte;

    puts("ready");
    fflush(stdout);
    if (read(STDIN_FILENO, &byte, 1) < 0)
        exit(98);
}

static void where(const char *file)
{
    FILE *const to = fopen(file, "we");

    if (!to || fprintf(to, "%lx\n", (unsigned long)(uintptr_t)blocks[0]) < 0 || fclose(to) != 0)
        exit(92);
}

static void dump(const char *file)
{
    const int fd = open(file, O_WRONLY | O_CREAT | O_APPEND | O_CLOEXEC, 0600);

    if (fd < 0 || sframe_backtrace_heap_dump(fd, SFRAME_BACKTRACE_HEAP_CHECK_TAILS) != SFB_OK)
        exit(97);
    close(fd);
}

int main(int argc, char **argv)
{
    if (!sfb_live_start_by_environment())
        return 96;
    for (int i = 1; i < argc; i++) {
        const char *word = argv[i];

        if (strcmp(word, "blocks") == 0 && i + 2 < argc) {
            make(number(argv[i + 1]), number(argv[i + 2]));
            i += 2;
        } else if (strcmp(word, "stacks") == 0) {
            make_stacks(number(argv[++i]));
        } else if (strcmp(word, "free") == 0) {
            free_each(number(argv[++i]));
        } else if (strcmp(word, "overrun") == 0) {
            overrun(number(argv[++i]));
        } else if (strcmp(word, "churn") == 0) {
            const size_t threads = number(argv[++i]);
            pthread_t thread;

            for (size_t n = 0; n < threads; n++)
                if (pthread_create(&thread, NULL, churn, NULL) != 0)
                    return 95;
            while (__atomic_load_n(&at_work, __ATOMIC_RELAXED) < threads)
                sched_yield();
        } else if (strcmp(word, "cost") == 0) {
            cost(number(argv[++i]));
        } else if (strcmp(word, "wait") == 0) {
            wait_for_a_byte();
        } else if (strcmp(word, "where") == 0) {
            where(argv[++i]);
        } else if (strcmp(word, "dump") == 0) {
            dump(argv[++i]);
        } else if (strcmp(word, "signal") == 0) {
            raise(SIGUSR2);
        } else if (strcmp(word, "exec") == 0) {
            unsetenv("SFB_HEAP_LIVE");
            execl("/bin/cat", "cat", (char *)NULL);
            return 94;
        } else if (strcmp(word, "exit") == 0) {
            _exit(0);
        } else {
            return 93;
        }
    }
    sfb_live_end();
    return 0;
}
