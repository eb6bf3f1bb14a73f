/*
 * glibc counts the modules that it has loaded so far, and the modules loaded now. dl_iterate_phdr() gives both counts,
 * but takes a lock. The counters lie in `_rtld_global`, which the loader exports for libc alone. They are read there, and
 * trusted only if all of this holds:
 *
 * - The count of modules loaded now is behind the pointer to the first module, which is the first member ("must remain
 *   the first element. Forever.").
 * - The count of loads is right behind the loader's three recursive locks. The count of namespaces is in front of these.
 * - dl_iterate_phdr() holds the second lock, the write lock.
 * - At load both equal dl_iterate_phdr()'s counts.
 * - Both have moved since, as they must when a module is loaded.
 *
 * Otherwise the loader is asked about each module.
 *
 * dlclose() takes both locks, unmaps a module, changes the count, and lets _dl_find_object() forget the module. So a reader
 * that sees free locks and the count of before misses no unload that has happened. An unload that begins now is a race;
 * asking the loader would lose it as well.
 *
 * r_state does not serve: a load adds to `loaded`, then to `adds`, and only then says RT_ADD. Between the two additions the
 * count is that of before the last unload. The write lock is held there, also in a child that another thread has forked
 * at this moment (fork() frees the load lock alone).
 */
#include "unwind/process/loader_state.h"

#include <dlfcn.h>
#include <pthread.h>

#include "sfb/context.h"
#include "unwind/process/pages.h"

/* Weak: a static program has neither, but links. */
__attribute__((weak)) __typeof__(dlvsym) dlvsym;

const volatile struct r_debug *sfb_loader_state;
const struct sfb_load_counters *sfb_load_counters;

static struct sfb_load_counters candidates; /* set once at load; `locks` is NULL: not found */

uint64_t sfb_loader_debug(void)
{
    return (uintptr_t)sfb_loader_state;
}

uint64_t sfb_loader_code(void)
{
    return sfb_loader_state ? sfb_loader_state->r_brk : 0;
}

void sfb_load_count_prove(void)
{
    const struct sfb_load_counters *c = &candidates;
    uint64_t adds;
    int64_t more;

    if (!c->locks || __atomic_load_n(&sfb_load_counters, __ATOMIC_RELAXED))
        return;
    adds = SFB_LOADER_READ(c->locks->adds);
    more = (int64_t)SFB_LOADER_READ(c->head->loaded) - (int64_t)c->first_loaded;
    if (adds > c->first_adds && more != 0 && more <= (int64_t)(adds - c->first_adds))
        __atomic_store_n(&sfb_load_counters, c, __ATOMIC_RELEASE);
}

void sfb_loader_state_begin(const ElfW(Dyn) * dynamic)
{
    for (; dynamic->d_tag != DT_NULL; dynamic++)
        if (dynamic->d_tag == DT_DEBUG)
            sfb_loader_state = (const void *)(uintptr_t)dynamic->d_un.d_ptr;
}

/* --- At load ----------------------------------------------------------------------------------- */

/* A lock's kind says that it is recursive. */
static bool are_locks(const struct sfb_loader_locks *l)
{
    for (unsigned i = 0; i < SFB_LOADER_LOCKS; i++)
        if (l->lock[i].__data.__kind != PTHREAD_MUTEX_RECURSIVE_NP)
            return false;
    return l->namespaces == 1 && l->lock[SFB_WRITE_LOCK].__data.__lock != 0;
}

bool sfb_load_counters_find(struct sfb_load_counters *out, const void *at, size_t size,
                            const void *main, uint64_t adds, uint64_t loaded)
{
    const struct sfb_loader_head *head = at;
    const struct sfb_loader_locks *found = NULL;

    if (size < sizeof *head || !main || head->main != main || head->loaded != loaded)
        return false;
    for (size_t i = sizeof *head; i + sizeof(struct sfb_loader_locks) <= size;
         i += sizeof(uint64_t)) {
        const struct sfb_loader_locks *locks = (const void *)((const char *)at + i);

        if (locks->adds != adds || !are_locks(locks))
            continue;
        if (found)
            return false;
        found = locks;
    }
    if (!found)
        return false;
    out->head = head;
    out->locks = found;
    return true;
}

/* Upper bound of its size in the known releases. */
#define GLOBAL_SIZE 8192u

/* The loader's struct, and its readable bytes. */
struct global {
    const void *at;
    size_t size;
};

/* @return whether it is in the loader: a program may export the same name */
static bool find_global(struct global *out, uint64_t loader_start, uint64_t loader_end)
{
    uint64_t at;

    out->at = dlvsym ? dlvsym(RTLD_DEFAULT, "_rtld_global", "GLIBC_PRIVATE") : NULL;
    at = (uintptr_t)out->at;
    if (at < loader_start || at >= loader_end || at % sizeof(uint64_t) != 0)
        return false;
    out->size = loader_end - at < GLOBAL_SIZE ? loader_end - at : GLOBAL_SIZE;
    return sfb_pages_probe(at, out->size);
}

/* Nothing is loaded or unloaded meanwhile. */
static int find_counters(struct dl_phdr_info *info, size_t size, void *user)
{
    const struct global *global = user;
    const uint64_t loaded = info->dlpi_adds - info->dlpi_subs;

    (void)size;
    if (loaded > UINT32_MAX)
        return 1;
    candidates.first_adds = info->dlpi_adds;
    candidates.first_loaded = (uint32_t)loaded;
    sfb_load_counters_find(&candidates, global->at, global->size, sfb_loader_state->r_map,
                           info->dlpi_adds, loaded);
    return 1;
}

void sfb_load_count_begin(uint64_t loader_start, uint64_t loader_end)
{
    struct global global;

    /*
     * The loader stores its counts plainly. On AArch64 another thread may see these stores before that of a lock. There the
     * loader is asked about each module.
     */
    if (!SFB_CONTEXT_X86_64)
        return;
    if (sfb_loader_state && find_global(&global, loader_start, loader_end))
        dl_iterate_phdr(find_counters, &global);
}
