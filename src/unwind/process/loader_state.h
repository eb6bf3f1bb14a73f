/*
 * State of the dynamic loader: whether it is at work now, and its count of loads and unloads.
 *
 * A module that was found at some count stays mapped while the count is unchanged. So _dl_find_object() is not called
 * for it again.
 */
#ifndef SFB_UNWIND_PROCESS_LOADER_STATE_H
#define SFB_UNWIND_PROCESS_LOADER_STATE_H

#include <link.h>
#include <pthread.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/*
 * @return address of the loader's struct r_debug, the head of its lists; 0: a static program
 *
 * Threads, signals: safe.
 */
uint64_t sfb_loader_debug(void);

/* The struct that debuggers read. Set once at load; NULL in a static program. */
extern const volatile struct r_debug *sfb_loader_state __attribute__((visibility("hidden")));

/* First members of the loader's `_rtld_global`. */
struct sfb_loader_head {
    const void *main;
    uint32_t loaded; /* modules loaded now */
};

/* Members of it further on. pthread_mutex_t is its locks' type; 0 in __data.__lock: free. */
enum { SFB_LOAD_LOCK, SFB_WRITE_LOCK, SFB_TLS_LOCK, SFB_LOADER_LOCKS };

struct sfb_loader_locks {
    uint64_t namespaces; /* 1: none by dlmopen() */
    pthread_mutex_t
        lock[SFB_LOADER_LOCKS]; /* of dlopen() and dlclose(); of the list of modules; of TLS */
    uint64_t adds;              /* modules loaded so far */
};

struct sfb_load_counters {
    const struct sfb_loader_head *head;
    const struct sfb_loader_locks *locks;
    uint64_t first_adds; /* values when this library was loaded */
    uint32_t first_loaded;
};

/* NULL: not proven yet. */
extern const struct sfb_load_counters *sfb_load_counters __attribute__((visibility("hidden")));

/*
 * Tells whether a library may be being unloaded right now. dlclose() first announces the unload in
 * r_state, then unmaps the library, and microseconds later _dl_find_object() forgets it. (Other
 * namespaces, which dlmopen() makes, have states of their own, from version 2 on.)
 *
 * Threads, signals: safe.
 */
static inline bool sfb_loader_is_busy(void)
{
    const volatile struct r_debug *state = sfb_loader_state;

    return state && (state->r_state != RT_CONSISTENT || state->r_version > 1);
}

#define SFB_LOADER_READ(member) __atomic_load_n(&(member), __ATOMIC_ACQUIRE)

/* @return whether the list of modules is complete: neither of its locks is held */
static inline bool sfb_loader_is_unlocked(const struct sfb_loader_locks *l)
{
    return (SFB_LOADER_READ(l->lock[SFB_LOAD_LOCK].__data.__lock) |
            SFB_LOADER_READ(l->lock[SFB_WRITE_LOCK].__data.__lock)) == 0;
}

/*
 * Counts the loads and unloads so far. A count never repeats within 2^63 loads.
 *
 * @return 0: not known: the loader is at work, has more than one namespace, or its counters were not found
 *
 * Threads, signals: safe, wait-free.   Cost: 25 instructions.
 */
static inline uint64_t sfb_load_count(void)
{
    const struct sfb_load_counters *c = __atomic_load_n(&sfb_load_counters, __ATOMIC_ACQUIRE);
    const struct sfb_loader_locks *l;
    const struct sfb_loader_head *h;
    uint64_t adds, loaded;

    if (!c)
        return 0;
    l = c->locks;
    h = c->head;
    if (!sfb_loader_is_unlocked(l))
        return 0;
    adds = SFB_LOADER_READ(l->adds);
    loaded = SFB_LOADER_READ(h->loaded);
    /* No lock is held, and both words are as before: no thread was between the two stores of a load. */
    if (!sfb_loader_is_unlocked(l) || SFB_LOADER_READ(l->adds) != adds ||
        SFB_LOADER_READ(h->loaded) != loaded || SFB_LOADER_READ(l->namespaces) != 1)
        return 0;
    return 2 * adds - loaded; /* loads + unloads */
}

/*
 * Called when a module was found that may have been loaded since the start. The counters are trusted once
 * both have been seen to move.
 *
 * Threads, signals: safe, wait-free.
 */
void sfb_load_count_prove(void);

/* At load, in this order. Signals: NOT safe: they take the loader's lock. */
void sfb_loader_state_begin(const ElfW(Dyn) * dynamic); /* of the program */
void sfb_load_count_begin(uint64_t loader_start,
                          uint64_t loader_end); /* range of the loader's own module */

/* @return address of the debuggers' breakpoint in the loader; 0: not known */
uint64_t sfb_loader_code(void);

/*
 * Finds the counters and locks in a struct of the loader, and writes where they are to *out. Exported for tests; the library calls
 * it at load only, from dl_iterate_phdr(), which holds the write lock.
 *
 * @param at    start of _rtld_global
 * @param size  readable bytes there
 * @param main  link_map of the program, as in r_debug
 * @param adds, loaded  from dl_iterate_phdr(): modules loaded so far, and modules loaded now
 *
 * @return whether they are at the expected place, and at one alone
 */
bool sfb_load_counters_find(struct sfb_load_counters *out, const void *at, size_t size,
                            const void *main, uint64_t adds, uint64_t loaded);

#endif
