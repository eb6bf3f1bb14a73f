#include "profiler/agent/live/dump.h"

#include <errno.h>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

#include "profiler/agent/clocks.h"
#include "profiler/agent/live/lists.h"
#include "profiler/agent/live/live.h"
#include "profiler/agent/live/table.h"
#include "profiler/protocol/live_tails.h"
#include "profiler/protocol/live_view.h"
#include "profiler/protocol/live_write.h"

enum { PAUSE_NS = 1000000, PAUSES = 1000 };

/* Memory of one dump, in one mapping: this, the sums, and a copy of the lists. */
struct room {
    struct sfb_live_table table;
    struct sfb_live_view view;
    struct sfb_live_sum sum;
    struct sfb_live_write write;
    struct sfb_live_tails tails;
    struct sfb_live now;
    int fd;
    struct sfb_live_amount of[];
};

/* The raw call: nanosleep() is a cancellation point. */
static void pause_a_moment(void)
{
    const struct timespec moment = { .tv_nsec = PAUSE_NS };

    syscall(SYS_nanosleep, &moment, NULL);
}

/* Waits up to a second for the reader of a full pipe. */
static bool put(void *user, const char *lines, size_t size)
{
    const int fd = *(const int *)user;
    int pauses = 0;

    while (size > 0) {
        const ssize_t n = syscall(SYS_write, fd, lines, size);

        if (n >= 0) {
            lines += n;
            size -= (size_t)n;
        } else if (errno == EAGAIN && pauses++ < PAUSES) {
            pause_a_moment();
        } else if (errno != EINTR) {
            return false;
        }
    }
    return true;
}

static bool again(void *user, uint32_t index, struct sfb_live_slot *out)
{
    const struct room *room = user;
    const struct sfb_live_slot *slot = &room->table.slots[index];

    out->block = __atomic_load_n(&slot->block, __ATOMIC_ACQUIRE);
    out->what = __atomic_load_n(&slot->what, __ATOMIC_ACQUIRE);
    return true;
}

static void overrun(void *user, uint32_t index, struct sfb_live_slot slot, uint32_t tail)
{
    struct room *room = user;

    (void)index;
    (void)tail;
    sfb_live_sum_untailed(&room->sum, slot, room->tails.bypassed);
}

static void check_tails(struct room *room)
{
    const uint32_t used = room->view.head.slots_used;

    sfb_live_tails_begin(&room->tails, getpid());
    room->tails.user = room;
    room->tails.again = again;
    room->tails.overrun = overrun;
    room->tails.bypassed = room->view.head.flags & SFB_LIVE_BYPASSED;
    for (uint32_t i = 1; i < used; i++) {
        struct sfb_live_slot slot, now;

        again(room, i, &slot);
        again(room, i, &now);
        if (sfb_live_is_block(slot.block) && slot.block == now.block && slot.what == now.what)
            sfb_live_tails_add(&room->tails, i, slot);
    }
    sfb_live_tails_end(&room->tails);
}

static uint32_t least(uint32_t a, uint32_t b)
{
    return a < b ? a : b;
}

static void read_slots(struct room *room, bool check)
{
    const struct sfb_live_table *t = &room->table;
    struct sfb_live *head = &room->view.head;

    sfb_live_sum_begin(&room->sum, t->stacks, least(head->stacks.used, t->stack_room));
    sfb_live_sum_slots(&room->sum, t->slots + 1, least(head->slots_used, t->slot_room) - 1);
    if (check)
        check_tails(room);
    /* Stacks that came meanwhile are there, too. */
    sfb_live_table_head(t, &room->now);
    head->stacks.used = least(room->now.stacks.used, t->stack_room);
    head->pieces.used = least(room->now.pieces.used, t->piece_room);
    sfb_live_sum_end(&room->sum, head->stacks.used);
}

static bool dump(struct room *room, uint8_t *lists, int fd, bool check)
{
    const struct sfb_live_table *t = &room->table;
    struct sfb_live_visitor visitor;
    bool checks;

    room->fd = fd;
    room->view = (struct sfb_live_view){ .stacks = t->stacks, .pieces = t->pieces, .lists = lists };
    if (!sfb_live_lists_copy(t, &room->view.head, lists)) {
        errno = EBUSY;
        return false;
    }
    if (room->view.head.slots_used == 0) {
        errno = ECANCELED; /* another thread has just stopped the table */
        return false;
    }
    checks = check || room->view.head.flags & SFB_LIVE_BYPASSED;
    read_slots(room, checks);
    sfb_live_write_begin(&room->write, put, &room->fd, &visitor);
    return sfb_live_visit(&room->view, &room->sum, checks ? &room->tails : NULL, sfb_now(),
                          sfb_clock(CLOCK_REALTIME), &visitor) &&
           sfb_live_write_flush(&room->write);
}

/* Maps the dump's memory, and unmaps it. */
static enum sfb_status dump_table(const struct sfb_live_table *table, int fd, bool check)
{
    const size_t lists_at =
                     sizeof(struct room) + table->stack_room * sizeof(struct sfb_live_amount),
                 size = lists_at + table->map->lists_size;
    struct room *room = mmap(NULL, size, PROT_READ | PROT_WRITE,
                             MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
    enum sfb_status status;
    int cause;

    if (room == MAP_FAILED)
        return SFB_NO_RESOURCE;
    room->table = *table;
    room->sum.of = room->of;
    room->sum.stacks = table->stack_room;
    status = dump(room, (uint8_t *)room + lists_at, fd, check) ? SFB_OK : SFB_NO_RESOURCE;
    cause = errno;
    munmap(room, size);
    errno = cause;
    return status;
}

enum sfb_status sfb_live_dump(int fd, bool check)
{
    static uint32_t busy; /* epoch of the table being dumped; differs in a child of fork() */
    uint32_t before = __atomic_load_n(&busy, __ATOMIC_RELAXED), epoch;
    struct sfb_live_table table;
    enum sfb_status status;

    epoch = sfb_live_table_now(&table);
    if (epoch == 0)
        return SFB_BAD_ARGUMENT;
    errno = EBUSY;
    if (before == epoch || !__atomic_compare_exchange_n(&busy, &before, epoch, false,
                                                        __ATOMIC_ACQUIRE, __ATOMIC_RELAXED))
        return SFB_NO_RESOURCE;
    sfb_live_lists_renew(false);
    status = dump_table(&table, fd, check);
    __atomic_compare_exchange_n(&busy, &epoch, 0, false, __ATOMIC_RELEASE, __ATOMIC_RELAXED);
    return status;
}
