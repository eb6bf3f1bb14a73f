/* Other stacks have other hashes, in their low bits, too: tables of stacks are indexed by these. */
#include "unwind/capture/stack_hash.h"

#include <stdlib.h>

#include "support/test.h"

enum { STACKS = 200000, BUCKETS = 1 << 16 };

static uint64_t hashes[STACKS];
static unsigned count;

static uint64_t hash_of(const uint64_t *addresses, unsigned frames)
{
    uint64_t hash = SFB_STACK_HASH_START;

    while (frames > 0)
        hash = sfb_stack_hash_add(hash, addresses[--frames]);
    return sfb_stack_hash_end(hash);
}

static int compare(const void *a, const void *b)
{
    const uint64_t *x = a, *y = b;

    return *x < *y ? -1 : *x > *y;
}

static void expect_distinct(void)
{
    unsigned equal = 0;

    qsort(hashes, count, sizeof *hashes, compare);
    for (unsigned i = 1; i < count; i++)
        equal += hashes[i] == hashes[i - 1];
    cr_expect(eq(u32, equal, 0));
}

/* One function that calls itself, and two in turn: a sum or an xor forgets how deep, or in which order. */
Test(stack_hash, tells_recursion_apart)
{
    static uint64_t same[1000], turns[1000], swapped[1000];

    for (unsigned i = 0; i < 1000; i++) {
        same[i] = 0x555555555140;
        turns[i] = 0x555555555140 + i % 2 * 64;
        swapped[i] = 0x555555555140 + (i + 1) % 2 * 64;
    }
    hashes[count++] = hash_of(same, 0);
    for (unsigned frames = 1; frames <= 1000; frames++)
        hashes[count++] = hash_of(same, frames);
    for (unsigned frames = 2; frames <= 1000; frames++) {
        hashes[count++] = hash_of(turns, frames);
        hashes[count++] = hash_of(swapped, frames);
    }
    expect_distinct();
}

/* Stacks that differ in one address, by little: as many buckets are hit as by numbers at random. */
Test(stack_hash, spreads_stacks_that_are_alike)
{
    static uint8_t hit[BUCKETS];
    uint64_t stack[20];
    unsigned buckets = 0;

    for (unsigned frame = 0; frame < 20; frame++)
        stack[frame] = 0x7ffff7a00000 + frame * 0x1234u;
    for (unsigned frame = 0; frame < 20; frame++) {
        for (unsigned i = 0; i < STACKS / 20; i++) {
            stack[frame]++;
            hashes[count++] = hash_of(stack, 20);
        }
    }
    for (unsigned i = 0; i < BUCKETS; i++) {
        buckets += hit[hashes[i] % BUCKETS] == 0;
        hit[hashes[i] % BUCKETS] = 1;
    }
    cr_expect(lt(u32, BUCKETS / 100 * 60, buckets), "63.2 of 100 at random");
    expect_distinct();
}
