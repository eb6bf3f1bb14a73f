#include "counted.h"

#include <fcntl.h>
#include <pthread.h>
#include <sched.h>
#include <stdatomic.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

enum { TABLE_BITS = 22 };

struct block {
    uintptr_t at; /* 0: no block */
    uint64_t size;
};

static struct counted nobody, *counted = &nobody;
static struct block *table; /* NULL: nothing is counted */
static atomic_flag locked = ATOMIC_FLAG_INIT;

static void lock(void)
{
    while (atomic_flag_test_and_set_explicit(&locked, memory_order_acquire))
        sched_yield();
}

static void unlock(void)
{
    atomic_flag_clear_explicit(&locked, memory_order_release);
}

static size_t home(uintptr_t at)
{
    return (size_t)((at >> 4) * 0x9e3779b97f4a7c15U >> (64 - TABLE_BITS));
}

static size_t after(size_t i)
{
    return (i + 1) & (((size_t)1 << TABLE_BITS) - 1);
}

static size_t find(uintptr_t at)
{
    size_t i = home(at);

    while (table[i].at != 0 && table[i].at != at)
        i = after(i);
    return i;
}

static void add(struct counted_sum *sum, uint64_t bytes)
{
    sum->blocks++;
    sum->bytes += bytes;
}

static void put(const void *p, uint64_t size)
{
    size_t i;

    if (counted->live.blocks >= (uint64_t)3 << (TABLE_BITS - 2)) {
        counted->full++;
        return;
    }
    i = find((uintptr_t)p);
    if (table[i].at != 0)
        counted->twice++;
    table[i] = (struct block){ (uintptr_t)p, size };
    add(&counted->live, size);
    if (counted->live.bytes > counted->peak.bytes)
        counted->peak = counted->live;
}

/* What was pushed on by the block that goes moves back into its place. */
static void clear(size_t hole)
{
    for (size_t i = after(hole); table[i].at != 0; i = after(i)) {
        const size_t wanted = home(table[i].at);

        if (hole <= i ? wanted <= hole || wanted > i : wanted <= hole && wanted > i) {
            table[hole] = table[i];
            hole = i;
        }
    }
    table[hole].at = 0;
}

void counted_alloc(enum counted_function function, const void *p, size_t size)
{
    if (table == NULL)
        return;
    lock();
    if (p == NULL) {
        counted->failed++;
    } else {
        add(&counted->allocated, size);
        add(&counted->of[function], size);
        put(p, size);
    }
    unlock();
}

struct counted_block counted_free(const void *p)
{
    struct counted_block gone = { p, 0, false };
    size_t i;

    if (table == NULL || p == NULL)
        return gone;
    lock();
    i = find((uintptr_t)p);
    if (table[i].at == 0) {
        counted->unknown++;
    } else {
        gone.size = table[i].size;
        gone.known = true;
        add(&counted->freed, gone.size);
        counted->live.blocks--;
        counted->live.bytes -= gone.size;
        clear(i);
    }
    unlock();
    return gone;
}

void counted_realloc(enum counted_function function, struct counted_block old, const void *p,
                     size_t size)
{
    counted_alloc(function, p, size);
    if (table == NULL || old.at == NULL)
        return;
    lock();
    if (p != NULL) {
        counted->reallocated++;
    } else if (size == 0) {
        counted->failed--; /* it only freed */
    } else if (old.known) {
        /* The block lives on. */
        put(old.at, old.size);
        counted->freed.blocks--;
        counted->freed.bytes -= old.size;
    }
    unlock();
}

/* A child's blocks are its own: it counts none. */
static void in_child(void)
{
    table = NULL;
    counted = &nobody;
}

__attribute__((constructor)) void counted_begin(void)
{
    static atomic_bool begun;
    const char *name;
    void *file, *blocks;
    int fd;

    if (atomic_load_explicit(&begun, memory_order_relaxed) || environ == NULL)
        return;
    name = getenv(COUNTED_ENVIRONMENT);
    if (atomic_exchange(&begun, true) || name == NULL ||
        (fd = open(name, O_RDWR | O_CREAT | O_TRUNC | O_CLOEXEC, 0600)) == -1)
        return;
    if (ftruncate(fd, sizeof *counted) == 0 &&
        (file = mmap(NULL, sizeof *counted, PROT_READ | PROT_WRITE, MAP_SHARED, fd, 0)) !=
            MAP_FAILED &&
        (blocks = mmap(NULL, sizeof *table << TABLE_BITS, PROT_READ | PROT_WRITE,
                       MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0)) != MAP_FAILED) {
        counted = file;
        table = blocks;
        pthread_atfork(NULL, NULL, in_child);
    }
    close(fd);
}
