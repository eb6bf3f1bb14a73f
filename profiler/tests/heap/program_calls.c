/* Each function once, with a size of its own. */
#include <errno.h>
#include <malloc.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>

#include "profiler/tests/heap/program.h"

/* NOLINTBEGIN(clang-analyzer-unix.Malloc,clang-analyzer-optin.portability.UnixAPI): calls that fail are tested, and KEEP() hides what is freed */

#define KEEP(pointer) __asm__ volatile("" : "+r"(pointer)::"memory")

static void must(int good, const char *what)
{
    if (!good) {
        printf("%s\n", what);
        exit(3);
    }
}

static void is_aligned(const void *block, size_t alignment, size_t size)
{
    must(block && (uintptr_t)block % alignment == 0, "alignment");
    must(malloc_usable_size((void *)(uintptr_t)block) >= size, "usable size");
    memset((void *)(uintptr_t)block, 0x5a, size);
}

void program_calls(void)
{
    char *block, *moved;
    void *out = NULL;
    /* What gcc does not see it does not warn of. */
    volatile size_t too_much = SIZE_MAX / 2 + 1, nothing = 0;
    char *volatile same;

    block = malloc(10001);
    is_aligned(block, 16, 10001);
    free(block);
    block = calloc(6, 1667); /* 10002 */
    must(block && block[0] == 0 && block[10001] == 0, "calloc");
    block = realloc(block, 20003);
    must(block && block[10001] == 0, "realloc");
    block = reallocarray(block, 5, 6001); /* 30005 */
    is_aligned(block, 16, 30005);
    free(block);
    must(posix_memalign(&out, 4096, 10006) == 0, "posix_memalign");
    is_aligned(out, 4096, 10006);
    free(out);
    block = aligned_alloc(64, 10048);
    is_aligned(block, 64, 10048);
    free(block);
    block = memalign(256, 10008);
    is_aligned(block, 256, 10008);
    free(block);
    block = valloc(10009);
    is_aligned(block, 4096, 10009);
    free(block);
    block = pvalloc(10010);
    is_aligned(block, 4096, 10010);
    free(block);
    block = realloc(NULL, 10011);
    is_aligned(block, 16, 10011);
    /* It fails, and the block lives on. */
    moved = realloc(block, too_much);
    must(!moved && errno == ENOMEM, "realloc of too much");
    errno = 0;
    same = block;
    moved = reallocarray(same, too_much, 4);
    must(!moved && errno == ENOMEM, "reallocarray of too much");
    is_aligned(block, 16, 10011);
    block = realloc(block, 0); /* frees */
    must(!block, "realloc of nothing");
    moved = malloc(too_much);
    must(!moved, "malloc of too much");
    moved = calloc(too_much, 4);
    must(!moved, "calloc of too much");
    free(NULL);
    block = malloc(nothing);
    KEEP(block);
    free(block);
}

void program_errno(void)
{
    for (int i = 0; i < 100000; i++) {
        char *block;

        errno = 4711;
        block = malloc((size_t)i % 1000 + 1);
        must(errno == 4711, "malloc changed errno");
        KEEP(block);
        block = realloc(block, (size_t)i % 3000 + 1);
        must(errno == 4711, "realloc changed errno");
        KEEP(block);
        free(block);
        must(errno == 4711, "free changed errno");
    }
}

void program_maps(void)
{
    char *a = mmap(NULL, 40960, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    char *b;

    must(a != MAP_FAILED, "mmap");
    b = mmap64(NULL, 45056, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    must(b != MAP_FAILED, "mmap64");
    a[40959] = b[45055] = 1;
    b = mremap(b, 45056, 901120, MREMAP_MAYMOVE);
    must(b != MAP_FAILED && b[45055] == 1, "mremap");
    must(mmap(a + 4096, 8192, PROT_READ, MAP_PRIVATE | MAP_ANONYMOUS | MAP_FIXED, -1, 0) ==
             a + 4096,
         "mmap at a fixed place");
    must(munmap(a + 1, 4096) != 0 && errno == EINVAL, "munmap of no page");
    must(mmap(NULL, 0, PROT_READ, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0) == MAP_FAILED, "no bytes");
    must(munmap(a, 40960) == 0 && munmap(b, 901120) == 0, "munmap");
    a = malloc(1234567); /* which the allocator maps */
    KEEP(a);
    free(a);
}

__attribute__((noinline)) static void pair(size_t size)
{
    char *block = malloc(size);

    KEEP(block);
    free(block);
}

void program_loop(int times)
{
    for (int i = 0; i < times; i++)
        pair(777);
}

__attribute__((noinline)) static void go_deep(int depth)
{
    if (depth == 0)
        pair(778);
    else
        go_deep(depth - 1);
    __asm__ volatile("");
}

void program_deep(int depth)
{
    go_deep(depth);
    pair(779);
    go_deep(depth);
}

/* Live blocks of all sizes: one in so many is replaced at a time. */
void program_sampled(int times)
{
    enum { LIVE = 4096 };
    static char *block[LIVE];
    uint64_t random = 88172645463325252u;

    for (int i = 0; i < times; i++) {
        random ^= random << 13;
        random ^= random >> 7;
        random ^= random << 17;
        free(block[random % LIVE]);
        block[random % LIVE] = malloc((random >> 20) % 4000);
    }
    for (int i = 0; i < LIVE; i++) {
        block[i] = realloc(block[i], 500);
        free(block[i]);
    }
}

/* NOLINTEND(clang-analyzer-unix.Malloc,clang-analyzer-optin.portability.UnixAPI) */
