/*
 * Another count of waits for mutexes: LD_PRELOAD=lock-counter.so, LOCK_COUNTER=FILE. pthread_mutex_lock() that cannot have the mutex at once
 * is timed, less what its thread then waited for a CPU (schedstat). At the end of the process FILE has a line for each mutex:
 *
 *     NS COUNT LONGEST SEEN_NS ADDRESS NAME
 *
 * SEEN_NS: of waits of 20 ms and more. NAME is a symbol of dladdr(), or FILE+0xOFFSET of what has none. Other ways to
 * wait for a mutex (timedlock, a condition variable that has it back) are not counted.
 */
#include <dlfcn.h>
#include <errno.h>
#include <fcntl.h>
#include <pthread.h>
#include <stdatomic.h>
#include <stdint.h>
#include <string.h>

#include "known_waits.h"

enum { MUTEXES = 1 << 14, LONG_NS = 20000000 };

struct counted {
    _Atomic(pthread_mutex_t *) mutex;
    _Atomic uint64_t ns, count, longest, long_ns;
};

/* By a hash of the address. */
static struct counted table[MUTEXES];
static _Atomic uint64_t dropped;
static int (*real_lock)(pthread_mutex_t *);
static _Thread_local int schedstat = -1;

/* @return NULL: the table is full */
static struct counted *find(pthread_mutex_t *mutex)
{
    const size_t hash = (size_t)(((uintptr_t)mutex >> 3) * 0x9e3779b97f4a7c15u >> 50);

    for (size_t i = 0; i < MUTEXES; i++) {
        struct counted *at = &table[(hash + i) % MUTEXES];
        pthread_mutex_t *none = NULL;

        if (atomic_compare_exchange_strong(&at->mutex, &none, mutex) || none == mutex)
            return at;
    }
    return NULL;
}

static void count(pthread_mutex_t *mutex, uint64_t ns)
{
    struct counted *to = find(mutex);
    uint64_t longest;

    if (!to) {
        dropped++;
        return;
    }
    to->ns += ns;
    to->count++;
    if (ns >= LONG_NS)
        to->long_ns += ns;
    longest = to->longest;
    while (ns > longest && !atomic_compare_exchange_weak(&to->longest, &longest, ns))
        continue;
}

static int lock_and_count(pthread_mutex_t *mutex)
{
    uint64_t queued, queued_before, before, after;
    int status;

    if (schedstat < 0)
        schedstat = open("/proc/thread-self/schedstat", O_RDONLY | O_CLOEXEC);
    before = now_with_queued(schedstat, &queued_before);
    status = real_lock(mutex);
    after = now_with_queued(schedstat, &queued);
    /* Its wake-up may be in the one and not yet in the other. */
    if (after - before > queued - queued_before)
        count(mutex, after - before - (queued - queued_before));
    return status;
}

__attribute__((visibility("default"))) int pthread_mutex_lock(pthread_mutex_t *mutex)
{
    const int kept = errno;
    int status;

    if (!real_lock)
        *(void **)&real_lock = dlsym(RTLD_NEXT, "pthread_mutex_lock");
    /* Of a mutex of another kind, trylock fails otherwise: it goes on as it would. */
    status = pthread_mutex_trylock(mutex);
    if (status == EBUSY)
        status = lock_and_count(mutex);
    else if (status != 0)
        status = real_lock(mutex);
    errno = kept;
    return status;
}

static void name(char *out, size_t size, const void *address)
{
    Dl_info info;
    const char *file;

    if (dladdr(address, &info) == 0 || !info.dli_fname) {
        snprintf(out, size, "%p", address);
    } else if (info.dli_sname && address == info.dli_saddr) {
        snprintf(out, size, "%s", info.dli_sname);
    } else {
        file = strrchr(info.dli_fname, '/');
        snprintf(out, size, "%s+0x%zx", file ? file + 1 : info.dli_fname,
                 (size_t)((const char *)address - (const char *)info.dli_fbase));
    }
}

__attribute__((destructor)) static void write_counts(void)
{
    const char *path = getenv("LOCK_COUNTER");
    FILE *file = path ? fopen(path, "w") : NULL;
    char text[256];

    if (!file)
        return;
    for (size_t i = 0; i < MUTEXES; i++) {
        const struct counted *c = &table[i];

        if (!c->mutex || c->count == 0)
            continue;
        name(text, sizeof text, c->mutex);
        fprintf(file, "%llu %llu %llu %llu %p %s\n", (unsigned long long)c->ns,
                (unsigned long long)c->count, (unsigned long long)c->longest,
                (unsigned long long)c->long_ns, (void *)c->mutex, text);
    }
    if (dropped > 0)
        fprintf(file, "0 %llu 0 0 0 dropped\n", (unsigned long long)dropped);
    fclose(file);
}
