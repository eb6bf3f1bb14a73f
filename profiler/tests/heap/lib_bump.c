/* An allocator that may be called in a signal handler, and counts: nothing is ever used again but the newest block. */
#include <stddef.h>
#include <stdint.h>
#include <string.h>
#include <sys/mman.h>

enum { HEAD = 16 };

#define ROOM ((size_t)1 << 32)

static uint64_t next;
static uint8_t *room;

static uint8_t *begin(void)
{
    uint8_t *at = __atomic_load_n(&room, __ATOMIC_ACQUIRE), *expected = NULL;

    if (at)
        return at;
    at = mmap(NULL, ROOM, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1,
              0);
    if (!__atomic_compare_exchange_n(&room, &expected, at, 0, __ATOMIC_ACQ_REL, __ATOMIC_ACQUIRE))
        at = expected;
    return at;
}

void *malloc(size_t size);
void *calloc(size_t count, size_t size);
void *realloc(void *block, size_t size);
void free(void *block);
size_t malloc_usable_size(void *block);

void *malloc(size_t size)
{
    uint8_t *at = begin();
    const size_t whole = HEAD + ((size + 15) & ~(size_t)15);

    at += __atomic_fetch_add(&next, whole, __ATOMIC_RELAXED) % (ROOM / 2);
    memcpy(at, &size, sizeof size);
    return at + HEAD;
}

void *calloc(size_t count, size_t size)
{
    void *block = malloc(count * size);

    return memset(block, 0, count * size);
}

size_t malloc_usable_size(void *block)
{
    size_t size = 0;

    if (block)
        memcpy(&size, (uint8_t *)block - HEAD, sizeof size);
    return size;
}

void *realloc(void *block, size_t size)
{
    const size_t before = malloc_usable_size(block);
    void *moved = malloc(size);

    if (block)
        memcpy(moved, block, before < size ? before : size);
    return moved;
}

void free(void *block)
{
    (void)block;
}
