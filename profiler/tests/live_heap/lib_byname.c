/* An allocator that calls itself by name, as simple ones do: what it calls is interposed, too. */
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

void *__libc_malloc(size_t size); /* NOLINT: glibc's own name */
void __libc_free(void *block);    /* NOLINT */
size_t malloc_usable_size(void *block);
void _ZdaPv(void *block); /* NOLINT: C++'s */

/* NOLINTBEGIN(readability-inconsistent-declaration-parameter-name): glibc's are reserved names */
void *malloc(size_t size)
{
    return __libc_malloc(size);
}

void free(void *block)
{
    __libc_free(block);
}

void *calloc(size_t count, size_t size)
{
    void *block = malloc(count * size);

    return block ? memset(block, 0, count * size) : NULL;
}

void *realloc(void *block, size_t size)
{
    void *moved = malloc(size);
    size_t before;

    if (!moved || !block)
        return moved;
    before = malloc_usable_size(block);
    memcpy(moved, block, before < size ? before : size);
    free(block);
    return moved;
}

/* NOLINTEND(readability-inconsistent-declaration-parameter-name) */

/* operator delete[], as a library has it that brings its own. */
void _ZdaPv(void *block)
{
    free(block);
}
