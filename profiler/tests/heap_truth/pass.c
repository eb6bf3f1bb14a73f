/*
 * Threads pass blocks round: each allocates, puts the block where others take from, takes somebody else's and frees it. So
 * nearly every block is freed by another thread, and its address is in use again at once.
 *
 *     pass THREADS BLOCKS
 *
 * Prints "allocated BLOCKS BYTES": what the threads themselves have.
 */
#include <inttypes.h>
#include <pthread.h>
#include <stdatomic.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>

enum { THREADS_MAX = 64, PLACES = 64, SIZES = 8 };

static _Atomic(void *) places[PLACES];
static uint64_t blocks_each;

struct passer {
    pthread_t id;
    uint64_t random, bytes;
};

static void *pass(void *argument)
{
    struct passer *self = argument;

    for (uint64_t i = 0; i < blocks_each; i++) {
        size_t size;
        void *block;

        self->random ^= self->random << 13;
        self->random ^= self->random >> 7;
        self->random ^= self->random << 17;
        /* Few sizes: an address that was freed is given away at once. */
        size = 24 + 16 * (self->random >> 40 & (SIZES - 1));
        block = malloc(size);
        if (block == NULL)
            abort();
        *(volatile char *)block = 1;
        self->bytes += size;
        free(atomic_exchange(&places[self->random >> 50 & (PLACES - 1)], block));
    }
    return NULL;
}

int main(int argc, char **argv)
{
    const unsigned long threads = argc == 3 ? strtoul(argv[1], NULL, 10) : 0;
    static struct passer passers[THREADS_MAX];
    uint64_t bytes = 0;

    if (threads == 0 || threads > THREADS_MAX) {
        fprintf(stderr, "usage: pass THREADS BLOCKS\n");
        return 2;
    }
    blocks_each = strtoull(argv[2], NULL, 10) / threads;
    for (unsigned long i = 0; i < threads; i++) {
        passers[i].random = 0x9e3779b97f4a7c15U * (i + 1);
        if (pthread_create(&passers[i].id, NULL, pass, &passers[i]) != 0)
            return 1;
    }
    for (unsigned long i = 0; i < threads; i++) {
        pthread_join(passers[i].id, NULL);
        bytes += passers[i].bytes;
    }
    for (int i = 0; i < PLACES; i++)
        free(places[i]);
    printf("allocated %" PRIu64 " %" PRIu64 "\n", blocks_each * threads, bytes);
    return 0;
}
