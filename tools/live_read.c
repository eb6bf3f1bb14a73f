/*
 * The bytes of a live table: live_map.h. Every count in the file may be hostile. So what is read, and
 * what memory that takes, goes by what the file really has: holes are passed over, and a table that says that it has
 * more than MEMORY_MAX of stacks has to have them on its disk.
 */
#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "live_map.h"
#include "recorder/live_write.h"
#include "sfb/image_map.h"

enum { CHUNK = 16384, TRIES = 5, SPARE_UNITS = 4096, LISTS_MAX = 1 << 20 };

#define MEMORY_MAX   ((uint64_t)40 << 20)
#define MEMORY_SHARE 4  /* times what the file has, where that is more */
#define LIST_SHARE   16 /* bytes of names that a list may say with one of its own */

static const char overwritten[] = "a live table that was overwritten";

bool live_read_at(int fd, void *out, size_t size, uint64_t at)
{
    size_t n = 0;

    while (n < size) {
        const ssize_t got = pread(fd, (uint8_t *)out + n, size - n, (off_t)(at + n));

        if (got < 0 && errno == EINTR)
            continue;
        if (got <= 0) {
            if (got == 0)
                errno = EIO;
            return false;
        }
        n += (size_t)got;
    }
    return true;
}

static struct stat facts_of(int fd)
{
    struct stat file;

    return fstat(fd, &file) == 0 ? file : (struct stat){ .st_size = 0 };
}

const char *live_read_head(int fd, struct sfb_live *out)
{
    if (!live_read_at(fd, out, sizeof *out, 0))
        return errno == EIO ? "no live table: it is too short" : strerror(errno);
    if (memcmp(out->magic, SFB_LIVE_MAGIC, sizeof out->magic) != 0)
        return "no live table, or one that was not begun";
    if (out->version != SFB_LIVE_VERSION)
        return "a live table of another version";
    return sfb_live_is_sound(out, (uint64_t)facts_of(fd).st_size) && out->lists_size <= LISTS_MAX
               ? NULL
               : overwritten;
}

/* @return size bytes at an offset, to be freed; NULL: errno says why */
static void *read_part(int fd, uint64_t at, size_t size)
{
    void *part = malloc(size > 0 ? size : 1);

    if (part && !live_read_at(fd, part, size, at)) {
        free(part);
        part = NULL;
    }
    return part;
}

/* --- elements, chunk by chunk ----------------------------------------------------------------------- */

/* @return the first element from one on that is not in a hole */
static uint32_t next_data(int fd, uint64_t at, size_t each, uint32_t first, uint32_t count)
{
    const off_t from = (off_t)(at + (uint64_t)first * each), found = lseek(fd, from, SEEK_DATA);

    if (found < 0)
        return errno == ENXIO ? count : first;
    return (uint64_t)(found - from) / each < count - first
               ? first + (uint32_t)((uint64_t)(found - from) / each)
               : count;
}

/* Pieces are small: who reads one twice sees what changed in a microsecond, not in a hundred. */
bool live_read_slots(const struct live_map *m,
                     bool (*each)(void *user, const struct sfb_live_slot *slots, uint32_t first,
                                  uint32_t count),
                     void *user)
{
    struct sfb_live_slot slots[LIVE_READ_SLOTS] = { { 0, 0 } };
    const uint32_t used = m->head.slots_used;

    for (uint32_t first = 0; first < used;) {
        const uint32_t count =
            used - first < LIVE_READ_SLOTS ? used - first : (uint32_t)LIVE_READ_SLOTS;

        if (first % CHUNK == 0) {
            const uint32_t next = next_data(m->fd, m->head.slots_at, sizeof *slots, first, used);

            if (next / CHUNK > first / CHUNK) {
                first = next == used ? used : next / CHUNK * CHUNK;
                continue;
            }
        }
        if (!live_read_at(m->fd, slots, count * sizeof *slots,
                          m->head.slots_at + (uint64_t)first * sizeof *slots) ||
            !each(user, slots, first, count))
            return false;
        first += count;
    }
    return true;
}

/* --- the parts -------------------------------------------------------------------------------------- */

/* Twice: a slot that changes meanwhile is left out, and one of a stack for which there is no room any more. */
static bool add_slots(void *user, const struct sfb_live_slot *slots, uint32_t first, uint32_t count)
{
    struct live_map *m = user;
    struct sfb_live_slot again[LIVE_READ_SLOTS] = { { 0, 0 } };

    if (!live_read_at(m->fd, again, count * sizeof *again,
                      m->head.slots_at + (uint64_t)first * sizeof *again))
        return false;
    for (uint32_t i = first == 0; i < count; i++) {
        const uint32_t stack = sfb_live_stack_of(slots[i].what);

        if (!sfb_live_is_block(slots[i].block))
            continue;
        if (slots[i].block != again[i].block || slots[i].what != again[i].what ||
            (stack >= m->sum.units && stack < m->head.stack_units))
            m->sum.changed++;
        else
            sfb_live_sum_add(&m->sum, slots[i]);
    }
    return true;
}

/* Those of a chunk that are in use. @return false: they are more than there can be stacks */
static bool keep_buckets(struct live_map *m, const uint64_t *chunk, uint32_t count, uint32_t most)
{
    for (uint32_t i = 0; i < count; i++) {
        if (chunk[i] == 0)
            continue;
        if (m->bucket_count == most)
            return false;
        m->buckets[m->bucket_count++] = chunk[i];
    }
    return true;
}

/* @return NULL, or why not */
static const char *read_buckets(struct live_map *m)
{
    const struct sfb_live *h = &m->head;
    const uint32_t most = m->sum.units / 2 + 1; /* a stack has two units at least */
    uint64_t chunk[CHUNK / 16] = { 0 };
    const size_t room = sizeof chunk / sizeof *chunk;

    m->buckets = calloc(most, sizeof *m->buckets);
    if (!m->buckets)
        return "there is no memory for its stacks";
    m->view.buckets = m->buckets;
    for (uint32_t first = 0; (first = next_data(m->fd, h->buckets_at, sizeof *chunk, first,
                                                h->bucket_count)) < h->bucket_count;) {
        const uint32_t left = h->bucket_count - first, count = left < room ? left : (uint32_t)room;

        if (!live_read_at(m->fd, chunk, count * sizeof *chunk,
                          h->buckets_at + (uint64_t)first * sizeof *chunk))
            return strerror(errno);
        if (!keep_buckets(m, chunk, count, most))
            return overwritten;
        first += count;
    }
    return NULL;
}

/* The list that holds may be written anew while it is read. */
static bool read_lists(struct live_map *m)
{
    for (int i = 0; i < TRIES; i++) {
        struct sfb_live before = m->view.head, after;

        free(m->lists);
        m->lists = read_part(m->fd, before.lists_at, before.lists_size);
        if (!m->lists || live_read_head(m->fd, &after) != NULL)
            return false;
        if (before.list == after.list && memcmp(before.lists, after.lists, sizeof after.lists) == 0)
            break;
        memcpy(m->view.head.lists, after.lists, sizeof after.lists);
        m->view.head.list = after.list;
    }
    m->view.lists = m->lists;
    return true;
}

/* --- what contradicts itself ------------------------------------------------------------------------ */

/* Takes the bytes of a stack. @return false: another stack has some of them */
static bool take_units(uint8_t *taken, uint32_t id, uint32_t count)
{
    for (uint32_t i = id; i < id + count; i++) {
        if (taken[i / 8] & 1U << i % 8)
            return false;
        taken[i / 8] |= (uint8_t)(1U << i % 8);
    }
    return true;
}

/* A stack is reached from one bucket, and shares no byte with another: else a small file would say a lot. */
static bool keep_apart(struct live_map *m)
{
    uint8_t *taken = calloc(m->view.head.units_used / 8 + 1, 1);
    uint32_t kept = 0;

    for (uint32_t i = 0; taken && i < m->bucket_count; i++) {
        const uint32_t id = (uint32_t)(m->buckets[i] & (SFB_LIVE_STACK_MAX - 1));
        const struct sfb_live_stack *stack = sfb_live_stack_at(&m->view, id);

        if (!stack)
            continue;
        if (take_units(taken, id, sfb_live_stack_units(stack->cbf_size)))
            m->buckets[kept++] = m->buckets[i];
        else
            m->sum.bad++;
    }
    m->view.head.bucket_count = kept;
    free(taken);
    return taken != NULL;
}

/* Names of modules are put together of prefixes: few bytes can say many. @return whether a list is within bounds */
static bool is_of_measure(const uint8_t *list, size_t size)
{
    static char text[SFB_LIVE_WRITE_TEXT];
    static struct sfb_image_map_prefix prefixes[SFB_LIVE_WRITE_PREFIXES];
    const struct sfb_image_map_room room = { text, sizeof text, prefixes, SFB_LIVE_WRITE_PREFIXES };
    struct sfb_image_map_decoder decoder;
    struct sfb_image image;
    size_t said = 0;

    if (sfb_image_map_decoder_init(&decoder, list, size, &room, NULL) != SFB_OK)
        return true; /* it says nothing */
    while (said <= LIST_SHARE * size + SFB_LIVE_PAGE &&
           sfb_image_map_decoder_next(&decoder, &image, NULL) == SFB_OK)
        said += image.path_size + image.build_id_size;
    return said <= LIST_SHARE * size + SFB_LIVE_PAGE;
}

static void forget_odd_lists(struct live_map *m)
{
    struct sfb_live *h = &m->view.head;

    for (uint32_t i = 0; i < SFB_LIVE_LISTS; i++) {
        const uint64_t at = h->lists[i].place >> 24, size = h->lists[i].place & 0xffffff;
        bool odd = at > h->lists_size || size > h->lists_size - at;

        for (uint32_t k = 0; k < i && !odd; k++) {
            const uint64_t other = h->lists[k].place >> 24,
                           other_size = h->lists[k].place & 0xffffff;

            odd = at < other + other_size && other < at + size;
        }
        if (size > 0 && (odd || !is_of_measure(m->lists + at, size))) {
            h->lists[i].place = 0;
            m->sum.bad++;
        }
    }
}

/* --- all of it -------------------------------------------------------------------------------------- */

/* @return units of stacks that there is to be room for; 0: more than the file can have */
static uint32_t room_for(const struct live_map *m)
{
    const struct sfb_live *h = &m->head;
    const uint64_t on_disk = (uint64_t)facts_of(m->fd).st_blocks * 512,
                   most = on_disk * MEMORY_SHARE > MEMORY_MAX ? on_disk * MEMORY_SHARE : MEMORY_MAX,
                   each = sizeof *m->sum.of + SFB_LIVE_UNIT + sizeof *m->buckets / 2 + 1;
    const uint64_t used = (uint64_t)h->units_used + h->units_used / 8 + SPARE_UNITS,
                   room = used < h->stack_units ? used : h->stack_units;

    if (room * each > most)
        return 0;
    return room > 0 ? (uint32_t)room : 1;
}

/* What names a stack is read before the stacks: those that came meanwhile are there, whole. */
const char *live_map_read(struct live_map *m)
{
    const char *cause;

    m->sum.units = room_for(m);
    if (m->sum.units == 0)
        return "a live table that says more than its file has";
    m->sum.of = calloc(m->sum.units, sizeof *m->sum.of);
    if (!m->sum.of || !live_read_slots(m, add_slots, m))
        return strerror(errno);
    cause = read_buckets(m);
    if (!cause)
        cause = live_read_head(m->fd, &m->view.head);
    if (cause)
        return cause;
    if (m->view.head.stack_units != m->head.stack_units ||
        m->view.head.stacks_at != m->head.stacks_at)
        return overwritten;
    if (m->view.head.units_used > m->sum.units)
        m->view.head.units_used = m->sum.units;
    m->stacks =
        read_part(m->fd, m->view.head.stacks_at, (size_t)m->view.head.units_used * SFB_LIVE_UNIT);
    m->view.stacks = m->stacks;
    if (!m->stacks || !keep_apart(m) || !read_lists(m))
        return strerror(errno);
    forget_odd_lists(m);
    return NULL;
}
