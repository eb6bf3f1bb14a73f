/*
 * An interposer that knows nothing: each malloc() takes some 25 ns longer. What it adds with many live blocks is the time
 * of cold memory, which a processor hides as long as so little happens between two blocks that it sees both.
 */
#include <stddef.h>
#include <stdint.h>

enum { STEPS = 60 }; /* multiplications that wait for each other */

/* NOLINTBEGIN(bugprone-reserved-identifier) */
void *__libc_malloc(size_t size);
void *malloc(size_t size);
/* NOLINTEND(bugprone-reserved-identifier) */

static __thread volatile uint64_t state;

void *malloc(size_t size)
{
    void *block = __libc_malloc(size);
    uint64_t x = state;

    for (int i = 0; i < STEPS; i++)
        x = x * 3 + 1;
    state = x;
    return block;
}
