/*
 * The functions behind those that the agent interposes: of the allocator that lies underneath, the C library's or
 * another, or of another interposer that comes after us.
 *
 * Each can be called from the beginning: until it is known it leads to what looks for it.
 */
#ifndef SFB_RECORD_HEAP_NEXT_H
#define SFB_RECORD_HEAP_NEXT_H

#include <stdbool.h>
#include <stddef.h>
#include <sys/types.h>

/* Forms of operator new, by what they are given besides the size; those of arrays follow. */
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

/* With up to three words, of which each form takes those that it knows. */
typedef void *sfb_heap_new_function(size_t, size_t, size_t);
typedef void sfb_heap_delete_function(void *, size_t, size_t);

struct sfb_heap_next {
    void *(*malloc)(size_t);
    void (*free)(void *);
    size_t (*malloc_usable_size)(void *);
    void *(*calloc)(size_t, size_t);
    void *(*realloc)(void *, size_t);
    int (*posix_memalign)(void **, size_t, size_t);
    void *(*aligned_alloc)(size_t, size_t);
    void *(*memalign)(size_t, size_t);
    void *(*valloc)(size_t);
    void *(*pvalloc)(size_t);
    void (*free_sized)(void *, size_t);                 /* NULL: there is none */
    void (*free_aligned_sized)(void *, size_t, size_t); /* NULL: there is none */
    char *(*strdup)(const char *);
    char *(*strndup)(const char *, size_t);
    bool has_strdup; /* the allocator has its own, which may not call malloc() */
    void *(*mmap)(void *, size_t, int, int, int, off_t);
    int (*munmap)(void *, size_t);
    void *(*mremap)(void *, size_t, size_t, int, void *);

    sfb_heap_new_function *new[SFB_HEAP_NEWS];          /* NULL: there is none */
    sfb_heap_delete_function *delete[SFB_HEAP_DELETES]; /* NULL: there is none */
    bool new_is_malloc; /* of the C++ library, which calls malloc() and free() */

    /* The program has some of its own, which come before ours, or a library has operators that are no allocator's. */
    bool new_is_others;     /* nothing of ours may come between those and who calls them */
    bool realloc_is_others; /* what ours is given, is of the program's own malloc() */
    sfb_heap_delete_function
        *delete_of_others[SFB_HEAP_DELETES]; /* where a program has its own; else as `delete` */
};

extern struct sfb_heap_next sfb_heap_next;

/*
 * Looks for all of them, once. Else the first call of malloc() does it.
 *
 * @return false: it is the calling thread itself that looks, or that cannot be done yet
 */
bool sfb_heap_next_find(void);

/* In a C++ library that is loaded, but not seen by all. NULL: none is */
sfb_heap_new_function *sfb_heap_next_hidden_new(enum sfb_heap_new form);

#endif
