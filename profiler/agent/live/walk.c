#include "profiler/agent/live/walk.h"

#include <errno.h>
#include <string.h>
#include <sys/mman.h>

#include "profiler/agent/live/lists.h"
#include "profiler/agent/live/reclaim.h"
#include "unwind/capture/stack_name.h"

struct sfb_live_walk {
    struct sfb_stack_namer namer;
    uint8_t cbf[SFB_LIVE_CBF_MAX];
};

static struct sfb_live_walk *room_of(struct sfb_live_thread *t)
{
    if (!t->walk) {
        const int saved = errno;
        void *at = mmap(NULL, sizeof(struct sfb_live_walk), PROT_READ | PROT_WRITE,
                        MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);

        if (at != MAP_FAILED)
            t->walk = at;
        errno = saved;
    }
    return t->walk;
}

void sfb_live_walk_free(struct sfb_live_walk *walk)
{
    if (walk)
        munmap(walk, sizeof *walk);
}

/* One that is new, or that is not stored. */
static struct sfb_live_name add(struct sfb_live_thread *t, const struct sfb_regs *caller,
                                uint64_t hash, uint32_t list)
{
    struct sfb_live_walk *walk = t->walk;
    struct sfb_live_name name = { 0, 0 };
    enum sfb_status end;
    ssize_t size;

    sfb_live_lists_look();
    sfb_live_reclaim_step(&t->table);
    if (sfb_live_stacks_are_full(&t->table, hash))
        return name;
    size = sfb_stack_name_cbf(caller, walk->cbf, sizeof walk->cbf, &end);
    return size > 0 ? sfb_live_stack_add(&t->table, hash, list, walk->cbf, (size_t)size) : name;
}

struct sfb_live_name sfb_live_walk(struct sfb_live_thread *t, const struct sfb_regs *caller)
{
    struct sfb_live_walk *walk = room_of(t);
    struct sfb_live_name name = { 0, 0 };
    uint32_t list;
    uint64_t hash;

    if (!walk)
        return name;
    list = __atomic_load_n(&t->table.map->list, __ATOMIC_ACQUIRE);
    hash = sfb_stack_name(&walk->namer, caller) +
           list * UINT64_C(0xd6e8feb86659fd93); /* other modules: another stack */
    if (!sfb_live_stacks_prepare(t, hash))
        return name;
    name = sfb_live_stack_find(&t->table, hash);
    return name.id ? name : add(t, caller, hash, list);
}
