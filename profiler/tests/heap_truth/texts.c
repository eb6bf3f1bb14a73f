/*
 * An allocator whose strdup() does not call malloc() by its name, as mimalloc's does not: glibc's own behind it. An overflow of
 * its reallocarray() is not ENOMEM, as with mimalloc 3.
 */
#include <dlfcn.h>
#include <errno.h>
#include <stddef.h>
#include <string.h>

/* The C library's names for them. NOLINTBEGIN(bugprone-reserved-identifier) */
void *__libc_malloc(size_t size);
void *__libc_calloc(size_t count, size_t size);
void *__libc_realloc(void *block, size_t size);
void __libc_free(void *block);
/* NOLINTEND(bugprone-reserved-identifier) */

void *malloc(size_t size);
void *calloc(size_t count, size_t size);
void *realloc(void *block, size_t size);
void *reallocarray(void *block, size_t count, size_t size);
void free(void *block);
size_t malloc_usable_size(void *block);

void *malloc(size_t size)
{
    return __libc_malloc(size);
}

void *calloc(size_t count, size_t size)
{
    return __libc_calloc(count, size);
}

void *realloc(void *block, size_t size)
{
    return __libc_realloc(block, size);
}

void *reallocarray(void *block, size_t count, size_t size)
{
    size_t total;

    if (__builtin_mul_overflow(count, size, &total)) {
        errno = EOVERFLOW;
        return NULL;
    }
    return __libc_realloc(block, total);
}

void free(void *block)
{
    __libc_free(block);
}

size_t malloc_usable_size(void *block)
{
    static size_t (*next)(void *);

    if (!next) {
        void *found = dlsym(RTLD_NEXT, "malloc_usable_size");

        memcpy(&next, &found, sizeof next);
    }
    return next(block);
}

static char *copy(const char *text, size_t length)
{
    char *copied = __libc_malloc(length + 1);

    if (!copied)
        return NULL;
    copied[length] = '\0';
    return memcpy(copied, text, length);
}

/* The C library's parameters have other names. NOLINTBEGIN(readability-inconsistent-declaration-parameter-name) */
char *strdup(const char *text)
{
    return copy(text, strlen(text));
}

char *strndup(const char *text, size_t most)
{
    return copy(text, strnlen(text, most));
}
/* NOLINTEND(readability-inconsistent-declaration-parameter-name) */
