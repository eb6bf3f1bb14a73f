/*
 * A library to be preloaded behind the agent: it counts what the agent hands on to the allocator, to the unit.
 *
 * Calls within a call are not counted, as the outer one is: libstdc++'s operator new calls malloc().
 */
#include <dlfcn.h>
#include <errno.h>
#include <malloc.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdlib.h>
#include <string.h>

#include "counted.h"

#define EXPORT __attribute__((visibility("default")))

enum { BOOT_SIZE = 65536 };

static _Thread_local unsigned depth __attribute__((tls_model("initial-exec")));

/* What dlsym() allocates while it looks for malloc(). */
static _Alignas(16) unsigned char boot[BOOT_SIZE];
static atomic_size_t boot_used;
/* volatile: dlsym() is declared a leaf, that nothing here is called by. */
static _Thread_local volatile bool finding __attribute__((tls_model("initial-exec")));

static void *boot_malloc(size_t size)
{
    const size_t at = atomic_fetch_add(&boot_used, (size + 15) & ~(size_t)15);

    return at + size <= BOOT_SIZE ? boot + at : NULL;
}

static bool is_boot(const void *p)
{
    return (uintptr_t)p - (uintptr_t)boot < BOOT_SIZE;
}

static void leave(const unsigned *unused)
{
    (void)unused;
    depth--;
}

/* What dlsym() found, as a pointer to a function. */
static void find(const char *name, void *out)
{
    void *found;

    finding = true;
    found = dlsym(RTLD_NEXT, name);
    finding = false;
    if (found == NULL)
        abort();
    memcpy(out, &found, sizeof found);
}

/*
 * Opens the body of a function that stands before another one of its name: `real` is that one, `outer` says whether the
 * call is nobody's part. An exception leaves it properly.
 */
#define BEFORE(name, result, ...)                                                                  \
    typedef result type(__VA_ARGS__);                                                              \
    static type *_Atomic found;                                                                    \
    type *real = atomic_load_explicit(&found, memory_order_relaxed);                               \
    unsigned within __attribute__((cleanup(leave), unused)) = depth++;                             \
    const bool outer = depth == 1;                                                                 \
    if (real == NULL) {                                                                            \
        find(#name, &real);                                                                        \
        atomic_store_explicit(&found, real, memory_order_relaxed);                                 \
        counted_begin();                                                                           \
    }

#define COUNT(name, p, size)                                                                       \
    if (outer)                                                                                     \
    counted_alloc(COUNTED_##name, p, size)

EXPORT void *malloc(size_t size)
{
    if (finding)
        return boot_malloc(size);
    BEFORE(malloc, void *, size_t)
    void *p = real(size);

    COUNT(malloc, p, size);
    return p;
}

EXPORT void *calloc(size_t nmemb, size_t size)
{
    if (finding)
        return boot_malloc(nmemb * size);
    BEFORE(calloc, void *, size_t, size_t)
    void *p = real(nmemb, size);

    COUNT(calloc, p, nmemb * size);
    return p;
}

EXPORT void *realloc(void *ptr, size_t size)
{
    if (finding && ptr == NULL)
        return boot_malloc(size);
    BEFORE(realloc, void *, void *, size_t)
    struct counted_block gone = { ptr, 0, false };
    void *p;

    if (outer)
        gone = counted_free(ptr);
    p = real(ptr, size);
    if (outer)
        counted_realloc(COUNTED_realloc, gone, p, size);
    return p;
}

EXPORT void *reallocarray(void *ptr, size_t nmemb, size_t size)
{
    BEFORE(reallocarray, void *, void *, size_t, size_t)
    struct counted_block gone = { ptr, 0, false };
    size_t bytes;
    void *p;

    if (__builtin_mul_overflow(nmemb, size, &bytes))
        bytes = SIZE_MAX;
    if (outer)
        gone = counted_free(ptr);
    p = real(ptr, nmemb, size);
    if (outer)
        counted_realloc(COUNTED_reallocarray, gone, p, bytes);
    return p;
}

EXPORT void free(void *ptr)
{
    /* dlsym() frees the text of an error that nobody asked for: it is left. */
    if (is_boot(ptr) || finding)
        return;
    BEFORE(free, void, void *)
    const int saved = errno;

    if (outer)
        counted_free(ptr);
    errno = saved;
    real(ptr);
}

/* As glibc 2.43's: they call the free() that the program finds. */
static void (*const volatile free_of_program)(void *) = free;

EXPORT void free_sized(void *ptr, size_t size);
EXPORT void free_sized(void *ptr, size_t size)
{
    (void)size;
    free_of_program(ptr);
}

EXPORT void free_aligned_sized(void *ptr, size_t alignment, size_t size);
EXPORT void free_aligned_sized(void *ptr, size_t alignment, size_t size)
{
    (void)alignment, (void)size;
    free_of_program(ptr);
}

EXPORT int posix_memalign(void **memptr, size_t alignment, size_t size)
{
    BEFORE(posix_memalign, int, void **, size_t, size_t)
    const int status = real(memptr, alignment, size);

    COUNT(posix_memalign, status == 0 ? *memptr : NULL, size);
    return status;
}

EXPORT void *aligned_alloc(size_t alignment, size_t size)
{
    BEFORE(aligned_alloc, void *, size_t, size_t)
    void *p = real(alignment, size);

    COUNT(aligned_alloc, p, size);
    return p;
}

EXPORT void *memalign(size_t alignment, size_t size)
{
    BEFORE(memalign, void *, size_t, size_t)
    void *p = real(alignment, size);

    COUNT(memalign, p, size);
    return p;
}

EXPORT void *valloc(size_t size)
{
    BEFORE(valloc, void *, size_t)
    void *p = real(size);

    COUNT(valloc, p, size);
    return p;
}

EXPORT void *pvalloc(size_t size)
{
    BEFORE(pvalloc, void *, size_t)
    void *p = real(size);

    COUNT(pvalloc, p, size);
    return p;
}

/* The operators of C++, by the names that a linker knows. align_val_t is a size_t, nothrow_t a reference. */
#define NEW(name, parameters, types, arguments)                                                    \
    EXPORT void *name parameters;                                                                  \
    EXPORT void *name parameters                                                                   \
    {                                                                                              \
        BEFORE(name, void *, types)                                                                \
        void *p = real arguments;                                                                  \
        COUNT(name, p, size);                                                                      \
        return p;                                                                                  \
    }
#define COMMA ,
NEW(_Znwm, (size_t size), size_t, (size))
NEW(_Znam, (size_t size), size_t, (size))
NEW(_ZnwmRKSt9nothrow_t, (size_t size, const void *t), size_t COMMA const void *, (size, t))
NEW(_ZnamRKSt9nothrow_t, (size_t size, const void *t), size_t COMMA const void *, (size, t))
NEW(_ZnwmSt11align_val_t, (size_t size, size_t a), size_t COMMA size_t, (size, a))
NEW(_ZnamSt11align_val_t, (size_t size, size_t a), size_t COMMA size_t, (size, a))
NEW(_ZnwmSt11align_val_tRKSt9nothrow_t, (size_t size, size_t a, const void *t),
    size_t COMMA size_t COMMA const void *, (size, a, t))
NEW(_ZnamSt11align_val_tRKSt9nothrow_t, (size_t size, size_t a, const void *t),
    size_t COMMA size_t COMMA const void *, (size, a, t))

#define DELETE(name, parameters, types, arguments)                                                 \
    EXPORT void name parameters;                                                                   \
    EXPORT void name parameters                                                                    \
    {                                                                                              \
        BEFORE(name, void, types)                                                                  \
        if (outer)                                                                                 \
            counted_free(p);                                                                       \
        real arguments;                                                                            \
    }
DELETE(_ZdlPv, (void *p), void *, (p))
DELETE(_ZdaPv, (void *p), void *, (p))
DELETE(_ZdlPvm, (void *p, size_t n), void *COMMA size_t, (p, n))
DELETE(_ZdaPvm, (void *p, size_t n), void *COMMA size_t, (p, n))
DELETE(_ZdlPvRKSt9nothrow_t, (void *p, const void *t), void *COMMA const void *, (p, t))
DELETE(_ZdaPvRKSt9nothrow_t, (void *p, const void *t), void *COMMA const void *, (p, t))
DELETE(_ZdlPvSt11align_val_t, (void *p, size_t a), void *COMMA size_t, (p, a))
DELETE(_ZdaPvSt11align_val_t, (void *p, size_t a), void *COMMA size_t, (p, a))
DELETE(_ZdlPvmSt11align_val_t, (void *p, size_t n, size_t a), void *COMMA size_t COMMA size_t,
       (p, n, a))
DELETE(_ZdaPvmSt11align_val_t, (void *p, size_t n, size_t a), void *COMMA size_t COMMA size_t,
       (p, n, a))
DELETE(_ZdlPvSt11align_val_tRKSt9nothrow_t, (void *p, size_t a, const void *t),
       void *COMMA size_t COMMA const void *, (p, a, t))
DELETE(_ZdaPvSt11align_val_tRKSt9nothrow_t, (void *p, size_t a, const void *t),
       void *COMMA size_t COMMA const void *, (p, a, t))
