/* sfb ctl PID block ADDRESS: which live block an address is in, and which stack allocated it. */
#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "cli/ctl/ctl.h"
#include "cli/heap_overruns.h"
#include "cli/tool_reporter.h"

struct search {
    uint64_t address;
    struct sfb_live_slot slot; /* block 0: not found */
    uint32_t index;
};

/* @return false: it is found, and no more slots are wanted */
static bool look(void *user, const struct sfb_live_slot *slots, uint32_t first, uint32_t count)
{
    struct search *s = user;

    for (uint32_t i = first == 0; i < count; i++)
        if (sfb_live_is_block(slots[i].block) && s->address >= sfb_live_address(slots[i].block) &&
            s->address < sfb_live_end_of(slots[i])) {
            s->slot = slots[i];
            s->index = first + i;
            return false;
        }
    return true;
}

/* --- freed blocks ----------------------------------------------------------------------------------- */

/* @return the block of the address that was freed last; address 0: none is remembered */
static struct sfb_live_freed find_freed(const struct live_map *m, uint64_t address)
{
    const struct sfb_live *h = &m->view.head;
    const uint64_t room = h->freed_room, count = h->freed_next < room ? h->freed_next : room;
    struct sfb_live_freed found = { .address = 0 }, *ring = calloc(room + 1, sizeof *ring);

    if (!ring || !live_read_at(m->fd, ring, room * sizeof *ring, h->freed_at)) {
        free(ring);
        return found;
    }
    for (uint64_t n = 0; n < count && found.address == 0; n++) {
        const struct sfb_live_freed *one = &ring[(h->freed_next - 1 - n) % room];

        if (one->address != 0 && address >= one->address &&
            address - one->address < sfb_live_size_of(one->what))
            found = *one;
    }
    free(ring);
    return found;
}

/* --- what is said of it ----------------------------------------------------------------------------- */

static bool again(void *user, uint32_t index, struct sfb_live_slot *out)
{
    const struct live_map *m = user;

    return live_read_at(m->fd, out, sizeof *out, m->head.slots_at + (uint64_t)index * sizeof *out);
}

static void ignore(void *user, uint32_t index, struct sfb_live_slot slot, uint32_t tail)
{
    (void)user;
    (void)index;
    (void)slot;
    (void)tail;
}

/* Whether the block's tail is overwritten. Of a process that runs: else its memory is gone. */
static bool is_overrun(struct live_map *m, const struct search *s)
{
    struct sfb_live_tails *tails =
        m->state == LIVE_MAP_RUNNING && !(m->view.head.flags & SFB_LIVE_BYPASSED)
            ? malloc(sizeof *tails)
            : NULL;
    bool overrun;

    if (!tails)
        return false;
    sfb_live_tails_begin(tails, (pid_t)m->head.pid);
    tails->again = again;
    tails->overrun = ignore;
    tails->user = m;
    sfb_live_tails_add(tails, s->index, s->slot);
    sfb_live_tails_end(tails);
    overrun = tails->overruns > 0;
    free(tails);
    return overrun;
}

static void say(struct live_map *m, const struct search *s)
{
    const uint64_t begin = sfb_live_address(s->slot.block), size = sfb_live_size_of(s->slot.what),
                   into = s->address - begin;

    printf("0x%" PRIx64 ": ", s->address);
    if (into < size || into == 0)
        printf("%" PRIu64 " bytes into", into);
    else
        printf("%" PRIu64 " bytes past the end of", into - size);
    printf(" a live block of %" PRIu64 " bytes at 0x%" PRIx64 "%s, which was allocated at\n", size,
           begin, is_overrun(m, s) ? ", written past its end" : "");
}

/* The sums are of this block alone, and so are the stacks that are visited. */
static bool print_stack(struct live_map *m, struct sfb_live_slot slot)
{
    struct object_places places = { 0 };
    struct symbols *symbols = symbols_open(&places, &tool_complaints);
    struct sfb_live_visitor visitor;
    struct heap_overruns stacks;

    if (!symbols)
        return false;
    sfb_live_sum_clear(&m->sum);
    sfb_live_sum_add(&m->sum, slot);
    sfb_live_sum_end(&m->sum, m->sum.stacks);
    heap_overruns_begin_all(&stacks, symbols, OBJECT_NAME_FULL, &visitor);
    sfb_live_visit(&m->view, &m->sum, NULL, 0, 0, &visitor);
    heap_overruns_end(&stacks);
    symbols_close(symbols);
    return true;
}

/* A slot as if the block was live: it names the stack, unless another one is in its place by now. */
static struct sfb_live_slot slot_of(const struct live_map *m, const struct sfb_live_freed *freed,
                                    uint64_t what, uint32_t generation)
{
    const uint32_t id = sfb_live_stack_of(what);

    if (id >= m->view.head.stacks.used ||
        sfb_live_generation(m->view.stacks[id].state) != generation)
        what = sfb_live_what(0, sfb_live_level_of(what), 0, sfb_live_size_of(what));
    return (struct sfb_live_slot){ freed->address, what };
}

static bool say_freed(struct live_map *m, uint64_t address, const struct sfb_live_freed *freed)
{
    printf("0x%" PRIx64 ": %" PRIu64 " bytes into a freed block of %" PRIu64 " bytes at 0x%" PRIx64
           ", which was allocated at\n",
           address, address - freed->address, sfb_live_size_of(freed->what), freed->address);
    if (!print_stack(m, slot_of(m, freed, freed->what, freed->generation)))
        return false;
    puts("and freed at");
    return print_stack(m, slot_of(m, freed, freed->by, freed->by_generation));
}

static enum tool_exit find(struct live_map *m, const struct ctl_request *r)
{
    struct search search = { .address = r->address };
    struct sfb_live_freed freed;
    bool good = true;
    const char *cause = live_map_read(m);

    if (cause)
        return tool_complain(TOOL_BAD_DATA, "%s: %s", r->target, cause);
    live_read_slots(m, look, &search);
    freed = find_freed(m, r->address);
    if (search.slot.block == 0 && freed.address == 0)
        return tool_complain(
            TOOL_BAD_DATA, "0x%lx is in no live block%s", (unsigned long)r->address,
            m->view.head.level_most > 0 ? " of the table, which was full and has not all" : "");
    if (search.slot.block != 0) {
        say(m, &search);
        good = print_stack(m, search.slot);
    }
    if (freed.address != 0)
        good = good && say_freed(m, r->address, &freed);
    return good ? TOOL_DONE : tool_complain(TOOL_USAGE, "%s", strerror(ENOMEM));
}

enum tool_exit ctl_block(const struct ctl_request *r)
{
    enum tool_exit exit_status;
    struct live_map map;

    if (!ctl_open_target(&map, r->target))
        return TOOL_USAGE;
    exit_status = find(&map, r);
    live_map_close(&map);
    return exit_status;
}
