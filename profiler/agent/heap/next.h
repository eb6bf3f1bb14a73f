/*
 * The next functions behind the agent's interposed ones: of the allocator underneath (the C library's or another), or of
 * another interposer that comes after us.
 *
 * Each can be called from the beginning: until it is found, the pointer leads to a function that looks for it.
 */
#ifndef PROFILER_AGENT_HEAP_NEXT_H
#define PROFILER_AGENT_HEAP_NEXT_H

#include <malloc.h>
#include <stdbool.h>
#include <stddef.h>
#include <sys/types.h>

/* Forms of operator new, by their arguments besides the size; the array forms follow. */
enum sfb_heap_new {
    SFB_HEAP_NEW,
    SFB_HEAP_NEW_NOTHROW,
    SFB_HEAP_NEW_ALIGNED,
    SFB_HEAP_NEW_ALIGNED_NOTHROW,
    SFB_HEAP_NEW_ARRAY,
    SFB_HEAP_NEW_ARRAY_NOTHROW,
    SFB_HEAP_NEW_ARRAY_ALIGNED,
    SFB_HEAP_NEW_ARRAY_ALIGNED_NOTHROW,
    SFB_HEAP_NEWS
};

enum sfb_heap_delete {
    SFB_HEAP_DELETE,
    SFB_HEAP_DELETE_SIZED,
    SFB_HEAP_DELETE_NOTHROW,
    SFB_HEAP_DELETE_ALIGNED,
    SFB_HEAP_DELETE_SIZED_ALIGNED,
    SFB_HEAP_DELETE_ALIGNED_NOTHROW,
    SFB_HEAP_DELETE_ARRAY,
    SFB_HEAP_DELETE_ARRAY_SIZED,
    SFB_HEAP_DELETE_ARRAY_NOTHROW,
    SFB_HEAP_DELETE_ARRAY_ALIGNED,
    SFB_HEAP_DELETE_ARRAY_SIZED_ALIGNED,
    SFB_HEAP_DELETE_ARRAY_ALIGNED_NOTHROW,
    SFB_HEAP_DELETES
};

/* Called with up to three words; each form uses the ones it knows. */
typedef void *sfb_heap_new_function(size_t, size_t, size_t);
typedef void sfb_heap_delete_function(void *, size_t, size_t);

struct sfb_heap_next {
    void *(*malloc)(size_t);
    void (*free)(void *);
    size_t (*malloc_usable_size)(void *);
    void *(*calloc)(size_t, size_t);
    void *(*realloc)(void *, size_t);
    void *(*reallocarray)(void *, size_t, size_t); /* NULL: missing */
    int (*posix_memalign)(void **, size_t, size_t);
    void *(*aligned_alloc)(size_t, size_t);
    void *(*memalign)(size_t, size_t);
    void *(*valloc)(size_t);
    void *(*pvalloc)(size_t);
    void (*free_sized)(void *, size_t);                 /* NULL: missing */
    void (*free_aligned_sized)(void *, size_t, size_t); /* NULL: missing */
    char *(*strdup)(const char *);
    char *(*strndup)(const char *, size_t);
    struct mallinfo2 (*mallinfo2)(void);
    int (*mallctl)(const char *, void *, size_t *, void *, size_t); /* NULL: missing. jemalloc's */
    int (*tcmalloc_property)(const char *, size_t *);               /* NULL: missing */
    bool malloc_is_c_library;
    bool has_strdup; /* the allocator has its own, which may not call malloc() */
    void *(*mmap)(void *, size_t, int, int, int, off_t);
    int (*munmap)(void *, size_t);
    void *(*mremap)(void *, size_t, size_t, int, void *);

    sfb_heap_new_function *new[SFB_HEAP_NEWS];          /* NULL: missing */
    sfb_heap_delete_function *delete[SFB_HEAP_DELETES]; /* NULL: missing */
    bool new_is_malloc; /* the operators are the C++ library's, which call malloc() and free() */

    /* The program has functions of its own that come before ours, or a library has operators of no known allocator. */
    bool new_is_others;     /* our operators pass each call on to the others unchanged */
    bool realloc_is_others; /* blocks passed to our realloc() are of the program's own malloc() */
    sfb_heap_delete_function
        *delete_of_others[SFB_HEAP_DELETES]; /* the program's own, else as `delete` */
};

extern struct sfb_heap_next sfb_heap_next;

/*
 * Finds all of them, once. Without this call, the first malloc() does it.
 *
 * @return false: this thread is already looking for them
 */
bool sfb_heap_next_find(void);

/* Looks in a loaded C++ library that is not in the global scope. NULL: not found */
sfb_heap_new_function *sfb_heap_next_hidden_new(enum sfb_heap_new form);

#endif
