/* A heap that is the same in each run: blocks that stay, that grow, that are there at the peak, and temporary ones. */
#include <stdlib.h>
#include <string.h>

#define KEPT __attribute__((noinline))

static void *volatile sink;
static char *kept[1000];

KEPT char *copy_of(const char *text)
{
    char *copy = malloc(strlen(text) + 1);

    if (copy)
        strcpy(copy, text);
    return copy;
}

KEPT void keep(size_t count)
{
    for (size_t i = 0; i < count; i++)
        kept[i] = copy_of("a text that stays to the end");
}

KEPT void churn(size_t count)
{
    for (size_t i = 0; i < count; i++) {
        sink = malloc(16 + i % 100);
        free(sink);
    }
}

KEPT void grow(size_t most)
{
    char *block = NULL;

    for (size_t size = 64; size < most; size *= 2)
        block = realloc(block, size); /* cppcheck-suppress memleakOnRealloc; there is memory */
    sink = block;
}

KEPT void reach_the_peak(int depth)
{
    void *block = calloc(1, 10000);

    if (depth > 0)
        reach_the_peak(depth - 1);
    sink = block;
    free(block);
}

KEPT void let_some_go(size_t count)
{
    for (size_t i = 0; i < count; i += 3) {
        free(kept[i]);
        kept[i] = NULL;
    }
}

int main(void)
{
    keep(1000);
    churn(20000);
    grow(100000);
    reach_the_peak(40);
    let_some_go(1000);
    churn(500);
    return 0;
}
