#include "live_map.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

enum { CHUNK = 16384, TRIES = 5 };

/* --- reading ---------------------------------------------------------------------------------------- */

static bool read_at(int fd, void *out, size_t size, uint64_t at)
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

static uint64_t size_of(int fd)
{
    struct stat file;

    return fstat(fd, &file) == 0 && file.st_size > 0 ? (uint64_t)file.st_size : 0;
}

static const char *read_head(int fd, struct sfb_live *out)
{
    if (!read_at(fd, out, sizeof *out, 0))
        return errno == EIO ? "no live table: it is too short" : strerror(errno);
    if (memcmp(out->magic, SFB_LIVE_MAGIC, sizeof out->magic) != 0)
        return "no live table, or one that was not begun";
    if (out->version != SFB_LIVE_VERSION)
        return "a live table of another version";
    return sfb_live_is_sound(out, size_of(fd)) ? NULL : "a live table that was overwritten";
}

/* @return size bytes at an offset, to be freed; NULL: errno says why */
static void *read_part(int fd, uint64_t at, size_t size)
{
    void *part = malloc(size > 0 ? size : 1);

    if (part && !read_at(fd, part, size, at)) {
        free(part);
        part = NULL;
    }
    return part;
}

/* The list that holds may be written anew while it is read. */
static bool read_lists(struct live_map *m)
{
    for (int i = 0; i < TRIES; i++) {
        struct sfb_live before = m->view.head, after;

        free(m->lists);
        m->lists = read_part(m->fd, before.lists_at, before.lists_size);
        if (!m->lists || read_head(m->fd, &after) != NULL)
            return false;
        if (before.list == after.list && memcmp(before.lists, after.lists, sizeof after.lists) == 0)
            break;
        memcpy(m->view.head.lists, after.lists, sizeof after.lists);
        m->view.head.list = after.list;
    }
    return true;
}

/* Twice: a slot that changes meanwhile is left out. */
static bool add_slots(struct live_map *m)
{
    const uint64_t at = m->head.slots_at;
    struct sfb_live_slot *once = malloc(2 * CHUNK * sizeof *once), *again = once + CHUNK;
    bool good = once != NULL;

    for (uint32_t first = 0; good && first < m->head.slots_used; first += CHUNK) {
        const uint32_t left = m->head.slots_used - first, count = left < CHUNK ? left : CHUNK;
        const size_t size = count * sizeof *once;

        good = read_at(m->fd, once, size, at + (uint64_t)first * sizeof *once) &&
               read_at(m->fd, again, size, at + (uint64_t)first * sizeof *once);
        for (uint32_t i = 0; good && i < count; i++) {
            if (!sfb_live_is_block(once[i].block) || first + i == 0)
                continue;
            if (once[i].block == again[i].block && once[i].what == again[i].what)
                sfb_live_sum_add(&m->sum, once[i]);
            else
                m->sum.changed++;
        }
    }
    free(once);
    return good;
}

/* Stacks are read after the slots that name them: those that came meanwhile are there, too. */
const char *live_map_read(struct live_map *m)
{
    const char *cause;

    m->sum.units = m->head.stack_units;
    m->sum.of = calloc(m->sum.units > 0 ? m->sum.units : 1, sizeof *m->sum.of);
    if (!m->sum.of || !add_slots(m))
        return strerror(errno);
    cause = read_head(m->fd, &m->view.head);
    if (cause)
        return cause;
    if (m->view.head.stack_units != m->head.stack_units)
        return "a live table that was overwritten";
    m->stacks =
        read_part(m->fd, m->view.head.stacks_at, (size_t)m->view.head.units_used * SFB_LIVE_UNIT);
    m->buckets =
        read_part(m->fd, m->view.head.buckets_at, m->view.head.bucket_count * sizeof *m->buckets);
    if (!m->stacks || !m->buckets || !read_lists(m))
        return strerror(errno);
    m->view.stacks = m->stacks;
    m->view.buckets = m->buckets;
    m->view.lists = m->lists;
    return NULL;
}

/* --- the process ------------------------------------------------------------------------------------ */

/* When it started: word 22 of /proc/PID/stat. 0: there is none. */
static uint64_t ticks_of(uint64_t pid)
{
    char path[64], text[1024], *at;
    FILE *file;
    size_t size;

    snprintf(path, sizeof path, "/proc/%lu/stat", (unsigned long)pid);
    file = fopen(path, "re");
    if (!file)
        return 0;
    size = fread(text, 1, sizeof text - 1, file);
    fclose(file);
    text[size] = '\0';
    at = strrchr(text, ')');
    for (int i = 0; at && i < 20; i++) {
        at = strchr(at, ' ');
        at = at ? at + 1 : NULL;
    }
    return at ? strtoull(at, NULL, 10) : 0;
}

/* Whether a process has the file mapped. One that may not be looked at is believed to. */
static bool has_mapped(uint64_t pid, int fd)
{
    char path[64], line[1024];
    struct stat file;
    bool found = false;
    FILE *maps;

    snprintf(path, sizeof path, "/proc/%lu/maps", (unsigned long)pid);
    maps = fopen(path, "re");
    if (!maps || fstat(fd, &file) != 0) {
        if (maps)
            fclose(maps);
        return true;
    }
    while (!found && fgets(line, sizeof line, maps)) {
        const char *at = line; /* the fifth word is its inode */

        for (int i = 0; at && i < 4; i++) {
            at = strchr(at, ' ');
            at = at ? at + strspn(at, " ") : NULL;
        }
        found = at && strtoull(at, NULL, 10) == file.st_ino;
    }
    fclose(maps);
    return found;
}

static enum live_map_state state_of(const struct live_map *m)
{
    if (ticks_of(m->head.pid) != m->head.ticks || m->head.ticks == 0)
        return LIVE_MAP_GONE;
    return has_mapped(m->head.pid, m->fd) ? LIVE_MAP_RUNNING : LIVE_MAP_REPLACED;
}

const char *live_map_open(struct live_map *out, const char *path)
{
    struct stat file;
    const char *cause = NULL;

    *out = (struct live_map){ .fd = open(path, O_RDONLY | O_NONBLOCK | O_CLOEXEC | O_NOCTTY) };
    if (out->fd < 0)
        return strerror(errno);
    if (fstat(out->fd, &file) != 0 || !S_ISREG(file.st_mode))
        cause = "no file";
    else
        cause = read_head(out->fd, &out->head);
    if (cause)
        live_map_close(out);
    else
        out->state = state_of(out);
    return cause;
}

void live_map_close(struct live_map *m)
{
    if (m->fd >= 0)
        close(m->fd);
    free(m->sum.of);
    free(m->stacks);
    free(m->buckets);
    free(m->lists);
    *m = (struct live_map){ .fd = -1 };
}

/* --- tails ------------------------------------------------------------------------------------------ */

static bool again(void *user, uint32_t index, struct sfb_live_slot *out)
{
    const struct live_map *m = user;

    return read_at(m->fd, out, sizeof *out, m->head.slots_at + (uint64_t)index * sizeof *out);
}

static void overrun(void *user, uint32_t index, struct sfb_live_slot slot, uint32_t tail)
{
    const struct live_map *m = user;
    const uint32_t stack = sfb_live_stack_of(slot.what);

    (void)index;
    (void)tail;
    if (stack < m->sum.units)
        m->sum.of[stack].overruns++;
}

void live_map_check_tails(struct live_map *m, struct sfb_live_tails *out)
{
    struct sfb_live_slot *slots = calloc(CHUNK, sizeof *slots);

    sfb_live_tails_begin(out, (pid_t)m->head.pid);
    out->again = again;
    out->overrun = overrun;
    out->user = m;
    for (uint32_t first = 0; slots && first < m->head.slots_used; first += CHUNK) {
        const uint32_t left = m->head.slots_used - first, count = left < CHUNK ? left : CHUNK;

        if (!read_at(m->fd, slots, count * sizeof *slots,
                     m->head.slots_at + (uint64_t)first * sizeof *slots))
            break;
        for (uint32_t i = first == 0; i < count; i++)
            if (sfb_live_is_block(slots[i].block))
                sfb_live_tails_add(out, first + i, slots[i]);
    }
    sfb_live_tails_end(out);
    free(slots);
}
