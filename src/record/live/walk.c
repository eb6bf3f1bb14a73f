#include "record/live/walk.h"

#include <errno.h>
#include <sys/mman.h>

#include "record/live/lists.h"
#include "record/live/stacks.h"
#include "sframe_backtrace.h"

enum { FRAMES = 128, MEMO_FRAMES = 64 };

struct sfb_live_walk {
    uint64_t memo[SFRAME_BACKTRACE_HASHED_MEMO_SIZE(MEMO_FRAMES) / 8];
    void *addresses[FRAMES];
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

/* libunwind takes a lock: without it. */
static struct sframe_backtrace_options options_of(unsigned skip)
{
    struct sframe_backtrace_options options = SFRAME_BACKTRACE_OPTIONS_INIT;

    options.flags = SFRAME_BACKTRACE_NO_LIBUNWIND;
    options.max_frames = FRAMES;
    options.skip = skip;
    return options;
}

/* Both captures are called from here: the frames to skip are the same. */
__attribute__((noinline)) uint32_t sfb_live_walk(struct sfb_live_thread *t, unsigned skip)
{
    struct sframe_backtrace_options options = options_of(skip + 1);
    struct sfb_live_walk *walk = room_of(t);
    uint64_t hash = 0;
    uint32_t list, id = 0;
    ssize_t size;

    if (walk) {
        list = __atomic_load_n(&sfb_live_table.map->list, __ATOMIC_ACQUIRE);
        options.memo = walk->memo;
        options.memo_size = sizeof walk->memo;
        options.hash = &hash;
        size = sframe_backtrace_addresses(walk->addresses, FRAMES, &options, NULL);
        if (size > 0) {
            hash += list * UINT64_C(0xd6e8feb86659fd93); /* other modules: another stack */
            id = sfb_live_stack_find(hash);
            if (id != 0)
                return id;
            sfb_live_lists_look();
            options = options_of(skip + 1);
            size = sframe_backtrace_cbf(walk->cbf, sizeof walk->cbf, &options, NULL);
            if (size > 0)
                id = sfb_live_stack_add(hash, list, walk->cbf, (size_t)size);
        }
    }
    if (id == 0)
        __atomic_fetch_add(&sfb_live_counts()->no_stack, 1, __ATOMIC_RELAXED);
    return id;
}
