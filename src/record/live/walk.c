#include "record/live/walk.h"

#include <errno.h>
#include <string.h>
#include <sys/mman.h>

#include "record/live/lists.h"
#include "record/live/stacks.h"
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

uint32_t sfb_live_walk(struct sfb_live_thread *t, const struct sfb_regs *caller)
{
    struct sfb_live_walk *walk = room_of(t);
    uint32_t id = 0;

    if (walk) {
        const uint32_t list = __atomic_load_n(&t->table.map->list, __ATOMIC_ACQUIRE);
        const uint64_t hash =
            sfb_stack_name(&walk->namer, caller) +
            list * UINT64_C(0xd6e8feb86659fd93); /* other modules: another stack */

        id = sfb_live_stack_find(&t->table, hash);
        if (id == 0) {
            enum sfb_status end;
            ssize_t size = sfb_stack_name_cbf(caller, walk->cbf, sizeof walk->cbf, &end);

            sfb_live_lists_look();
            if (size > 0)
                id = sfb_live_stack_add(&t->table, hash, list, walk->cbf, (size_t)size);
        }
    }
    if (id == 0)
        sfb_live_count_up(&t->table.map->counts.no_stack, 1);
    return id;
}
