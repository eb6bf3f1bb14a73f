/*
 * Reads the bytes of a live table: live_map.h. Every count in the file may be hostile, so the bytes read and the memory
 * used depend on the file's real contents: holes are skipped, and stacks of more than MEMORY_MAX must be on disk.
 */
#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "profiler/collector/live/live_map.h"
#include "profiler/protocol/live_write.h"
#include "sfb/image_map.h"
#include "util/read_all.h"

enum { TRIES = 5, SPARE = 2048, LISTS_MAX = 1 << 20 };

#define MEMORY_MAX   ((uint64_t)40 << 20)
#define MEMORY_SHARE 4  /* x the file's size on disk, if that is more */
#define LIST_SHARE   16 /* bytes of names per byte of a list, at most */

static const char overwritten[] = "a live table that was overwritten";

bool live_read_at(int fd, void *out, size_t size, uint64_t at)
{
    const size_t n = sfb_read_all_at(fd, out, size, at);

    if (n < size && errno == 0)
        errno = EIO;
    return n == size;
}

static struct stat facts_of(int fd)
{
    struct stat file;

    return fstat(fd, &file) == 0 ? file : (struct stat){ .st_size = 0 };
}

const char *live_read_head(int fd, struct sfb_live *out)
{
    if (!live_read_at(fd, out, sizeof *out, 0))
        return errno == EIO ? "not a live table: too short" : strerror(errno);
    if (memcmp(out->magic, SFB_LIVE_MAGIC, sizeof out->magic) != 0)
        return "not a live table, or not initialised";
    if (out->version != SFB_LIVE_VERSION)
        return "a live table of another version";
    return sfb_live_is_sound(out, (uint64_t)facts_of(fd).st_size) && out->lists_size <= LISTS_MAX
               ? NULL
               : overwritten;
}

/* @return size bytes at an offset, to be freed; NULL: see errno */
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

/* @return the first element at or after `first` that is not in a hole */
static uint32_t next_data(int fd, uint64_t at, size_t each, uint32_t first, uint32_t count)
{
    const off_t from = (off_t)(at + (uint64_t)first * each), found = lseek(fd, from, SEEK_DATA);

    if (found < 0)
        return errno == ENXIO ? count : first;
    return (uint64_t)(found - from) / each < count - first
               ? first + (uint32_t)((uint64_t)(found - from) / each)
               : count;
}

/* @return the first element after `first`, which has data, that lies entirely in a hole; or count */
static uint32_t next_hole(int fd, uint64_t at, size_t each, uint32_t first, uint32_t count)
{
    const off_t from = (off_t)(at + (uint64_t)first * each), found = lseek(fd, from, SEEK_HOLE);
    const uint64_t data =
        found < 0 ? UINT64_MAX : (uint64_t)(found - from + (off_t)each - 1) / each;

    if (data >= count - first)
        return count;
    return first + (data > 0 ? (uint32_t)data : 1);
}

/* Small pieces: two readings of a piece are a microsecond apart, not a hundred. */
bool live_read_slots(const struct live_map *m,
                     bool (*each)(void *user, const struct sfb_live_slot *slots, uint32_t first,
                                  uint32_t count),
                     void *user)
{
    struct sfb_live_slot slots[LIVE_READ_SLOTS] = { { 0, 0 } };
    const uint64_t at = m->head.slots_at;
    const uint32_t used = m->head.slots_used;
    uint32_t hole;

    for (uint32_t first = 0;
         first < used && (first = next_data(m->fd, at, sizeof *slots, first, used)) < used;
         first = hole) {
        hole = next_hole(m->fd, at, sizeof *slots, first, used);
        for (uint32_t count; first < hole; first += count) {
            count = hole - first < LIVE_READ_SLOTS ? hole - first : (uint32_t)LIVE_READ_SLOTS;
            if (!live_read_at(m->fd, slots, count * sizeof *slots,
                              at + (uint64_t)first * sizeof *slots) ||
                !each(user, slots, first, count))
                return false;
        }
    }
    return true;
}

/* --- parts ------------------------------------------------------------------------------------------ */

/* Reads each slot twice. Left out: slots that changed in between, and slots of a stack without room. */
static bool add_slots(void *user, const struct sfb_live_slot *slots, uint32_t first, uint32_t count)
{
    struct live_map *m = user;
    struct sfb_live_slot again[LIVE_READ_SLOTS] = { { 0, 0 } };

    if (!live_read_at(m->fd, again, count * sizeof *again,
                      m->head.slots_at + (uint64_t)first * sizeof *again))
        return false;
    for (uint32_t i = first == 0; i < count; i++) {
        const uint32_t stack = sfb_live_stack_of(slots[i].what);

        if (!live_map_wants(m, slots[i]))
            continue;
        if (slots[i].block != again[i].block || slots[i].what != again[i].what ||
            (stack >= m->sum.stacks && stack < m->head.stack_room))
            m->sum.changed++;
        else
            sfb_live_sum_add(&m->sum, slots[i]);
    }
    return true;
}

/* The file may end within a part: the rest reads as zeros. @return NULL: errno says why */
static struct sfb_live_stack *read_stacks(const struct live_map *m, uint32_t count)
{
    return read_part(m->fd, m->head.stacks_at, (size_t)count * sizeof(struct sfb_live_stack));
}

/* Reads the generation of each stack, before the slots. @return false: errno says why */
static bool read_generations(struct live_map *m)
{
    const uint32_t count =
        m->head.stacks.used < m->sum.stacks ? m->head.stacks.used : m->sum.stacks;
    struct sfb_live_stack *stacks = read_stacks(m, count);

    if (stacks)
        sfb_live_sum_begin(&m->sum, stacks, count);
    free(stacks);
    return stacks != NULL;
}

/* Of a stack that was freed while its pieces were read, these are another's. */
static void keep_same(struct sfb_live_stack *stacks, const struct sfb_live_stack *after,
                      uint32_t count)
{
    for (uint32_t i = 0; i < count; i++)
        if (sfb_live_generation(stacks[i].state) != sfb_live_generation(after[i].state))
            stacks[i].state = SFB_LIVE_NO_STACK;
}

/* Behind the slots: the stacks that they name, whole. @return false: errno says why */
static bool read_named(struct live_map *m)
{
    const struct sfb_live *h = &m->view.head;
    struct sfb_live_stack *after = NULL;

    m->stacks = read_stacks(m, h->stacks.used);
    m->pieces = read_part(m->fd, h->pieces_at, (size_t)h->pieces.used * sizeof *m->pieces);
    if (m->stacks && m->pieces)
        after = read_stacks(m, h->stacks.used);
    if (!after)
        return false;
    keep_same(m->stacks, after, h->stacks.used);
    free(after);
    m->view.stacks = m->stacks;
    m->view.pieces = m->pieces;
    return true;
}

/* The current list may be rewritten while it is read. */
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

/* --- contradictions --------------------------------------------------------------------------------- */

/* Marks the pieces of a stack. @return false: another stack has one of them, or its chain is broken */
static bool take_pieces(const struct live_map *m, uint8_t *taken, const struct sfb_live_stack *of)
{
    const uint32_t count = sfb_live_pieces(of->cbf_size);
    uint32_t piece = of->next;

    for (uint32_t i = 0; i < count; i++) {
        if (piece == 0 || piece >= m->view.head.pieces.used || taken[piece / 8] & 1U << piece % 8)
            return false;
        taken[piece / 8] |= (uint8_t)(1U << piece % 8);
        piece = m->pieces[piece].next;
    }
    return of->cbf_size > 0 && of->cbf_size <= SFB_LIVE_CBF_MAX;
}

/*
 * Keeps the stacks that the slots name, and those with overruns. No two share a piece: else a small file could expand to a
 * large report. @return false: errno says why
 */
static bool keep_apart(struct live_map *m)
{
    const uint32_t count = m->view.head.stacks.used;
    uint8_t *taken = calloc(m->view.head.pieces.used / 8 + 1, 1);

    for (uint32_t i = 1; taken && i < count; i++) {
        struct sfb_live_stack *stack = &m->stacks[i];
        const bool named = m->sum.of[i].samples > 0;

        if (named && !sfb_live_sum_is_of(&m->sum.of[i], stack->state)) {
            sfb_live_sum_forget(&m->sum, i); /* freed meanwhile */
            stack->state = SFB_LIVE_NO_STACK;
        }
        if (sfb_live_phase(stack->state) == SFB_LIVE_NO_STACK || (!named && stack->overruns == 0))
            continue;
        if (!take_pieces(m, taken, stack)) {
            m->sum.bad++;
            stack->state = SFB_LIVE_NO_STACK;
        }
    }
    free(taken);
    return taken != NULL;
}

/* Module names are composed of prefixes: few bytes can expand to many. @return whether a list is within bounds */
static bool is_of_measure(const uint8_t *list, size_t size)
{
    static char text[SFB_LIVE_WRITE_TEXT];
    static struct sfb_image_map_prefix prefixes[SFB_LIVE_WRITE_PREFIXES];
    const struct sfb_image_map_room room = { text, sizeof text, prefixes, SFB_LIVE_WRITE_PREFIXES };
    struct sfb_image_map_decoder decoder;
    struct sfb_image image;
    size_t said = 0;

    if (sfb_image_map_decoder_init(&decoder, list, size, &room, NULL) != SFB_OK)
        return true; /* undecodable, so without names */
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

/* --- the whole -------------------------------------------------------------------------------------- */

/* @return stacks to make room for; 0: more than the file can have */
static uint32_t room_for(const struct live_map *m)
{
    const struct sfb_live *h = &m->head;
    const uint64_t on_disk = (uint64_t)facts_of(m->fd).st_blocks * 512,
                   most = on_disk * MEMORY_SHARE > MEMORY_MAX ? on_disk * MEMORY_SHARE : MEMORY_MAX,
                   each = sizeof *m->sum.of + 2 * sizeof *m->stacks;
    const uint64_t used = (uint64_t)h->stacks.used + h->stacks.used / 8 + SPARE,
                   room = used < h->stack_room ? used : h->stack_room;

    if (room * each + (uint64_t)h->pieces.used * sizeof *m->pieces > most)
        return 0;
    return room > 0 ? (uint32_t)room : 1;
}

/* Includes what was written meanwhile, as far as there is room. @return NULL, or the reason of a failure */
static const char *read_head_again(struct live_map *m)
{
    struct sfb_live *h = &m->view.head;
    const char *cause = live_read_head(m->fd, h);

    if (cause)
        return cause;
    if (h->stack_room != m->head.stack_room || h->stacks_at != m->head.stacks_at ||
        h->pieces.used > m->head.pieces.used + (uint64_t)MEMORY_MAX / sizeof *m->pieces)
        return overwritten;
    if (h->stacks.used > m->sum.stacks)
        h->stacks.used = m->sum.stacks;
    return NULL;
}

static const char *read_once(struct live_map *m)
{
    const char *cause;

    m->sum.stacks = room_for(m);
    if (m->sum.stacks == 0)
        return "a live table larger than its file";
    m->sum.of = calloc(m->sum.stacks, sizeof *m->sum.of);
    if (!m->sum.of || !read_generations(m) || !live_read_slots(m, add_slots, m))
        return strerror(errno);
    cause = read_head_again(m);
    if (cause)
        return cause;
    if (!read_named(m) || !keep_apart(m) || !read_lists(m))
        return strerror(errno);
    forget_odd_lists(m);
    sfb_live_sum_end(&m->sum, m->sum.stacks);
    return NULL;
}

static void forget_parts(struct live_map *m)
{
    free(m->sum.of);
    free(m->stacks);
    free(m->pieces);
    free(m->lists);
    m->stacks = NULL;
    m->pieces = NULL;
    m->lists = NULL;
    m->sum = (struct sfb_live_sum){ .of = NULL };
    m->view = (struct sfb_live_view){ .stacks = NULL };
}

/* More than one slot in a thousand: this process had to wait for a processor while the other one went on. */
static bool has_changed(const struct live_map *m)
{
    return m->sum.changed > m->sum.all.samples / 1000;
}

const char *live_map_read(struct live_map *m)
{
    const char *cause = read_once(m);

    for (int i = 1; i < TRIES && !cause && has_changed(m); i++) {
        forget_parts(m);
        cause = live_read_head(m->fd, &m->head);
        if (!cause)
            cause = read_once(m);
    }
    return cause;
}
