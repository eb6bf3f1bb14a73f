#include "profiler/collector/live/live_marks.h"

#include <errno.h>
#include <fcntl.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/file.h>
#include <unistd.h>

/* --- what is there ---------------------------------------------------------------------------------- */

static int compare(const void *a, const void *b)
{
    const struct live_mark *x = a, *y = b;

    if (x->time != y->time)
        return x->time < y->time ? -1 : 1;
    return (x->era > y->era) - (x->era < y->era);
}

uint32_t live_marks_of(const struct sfb_live *head, struct live_mark out[SFB_LIVE_ERAS])
{
    uint32_t count = 1;

    out[0] = (struct live_mark){ .time = head->monotonic };
    for (uint32_t era = 1; era < SFB_LIVE_ERAS; era++) {
        const struct sfb_live_mark *mark = &head->marks[era];

        if (mark->time == 0)
            continue;
        out[count] = (struct live_mark){ .era = era, .time = mark->time };
        memcpy(out[count++].name, mark->name, sizeof mark->name);
    }
    qsort(out + 1, count - 1, sizeof *out, compare);
    return count;
}

static const struct live_mark *find(const struct live_mark *marks, uint32_t count, const char *name)
{
    for (uint32_t i = 1; i < count; i++)
        if (strcmp(marks[i].name, name) == 0)
            return &marks[i];
    return NULL;
}

bool live_marks_between(const struct sfb_live *head, const char *since, const char *until,
                        uint32_t *eras, const char **unknown)
{
    struct live_mark marks[SFB_LIVE_ERAS];
    const uint32_t count = live_marks_of(head, marks);
    const struct live_mark *first = since ? find(marks, count, since) : marks,
                           *end = until ? find(marks, count, until) : marks + count;

    if (!first || !end) {
        *unknown = first ? until : since;
        return false;
    }
    *eras = 0;
    for (const struct live_mark *m = first; m < end; m++)
        *eras |= 1U << m->era;
    return true;
}

/* --- another one ------------------------------------------------------------------------------------ */

static bool count_slots(void *user, const struct sfb_live_slot *slots, uint32_t first,
                        uint32_t count)
{
    uint64_t *live = user;

    for (uint32_t i = first == 0; i < count; i++)
        if (sfb_live_is_block(slots[i].block))
            live[sfb_live_era_of(slots[i].what)]++;
    return true;
}

/* @return an era for a new mark; 0: each one has live blocks */
static uint32_t free_era(const struct live_map *m)
{
    struct live_mark marks[SFB_LIVE_ERAS];
    uint64_t live[SFB_LIVE_ERAS] = { 0 };
    uint32_t count;

    for (uint32_t era = 1; era < SFB_LIVE_ERAS; era++)
        if (m->head.marks[era].time == 0)
            return era;
    if (!live_read_slots(m, count_slots, live))
        return 0;
    count = live_marks_of(&m->head, marks);
    for (uint32_t i = 1; i + 1 < count; i++) /* not the last one, which goes on */
        if (live[marks[i].era] == 0)
            return marks[i].era;
    return 0;
}

static bool write_at(int fd, const void *bytes, size_t size, size_t at)
{
    const ssize_t n = pwrite(fd, bytes, size, (off_t)at);

    if (n >= 0 && (size_t)n < size)
        errno = EIO;
    return n == (ssize_t)size;
}

/* The agent reads the era alone: it comes last. */
static bool write_mark(int fd, uint32_t era, const struct sfb_live_mark *mark)
{
    return write_at(fd, mark, sizeof *mark,
                    offsetof(struct sfb_live, marks) + era * sizeof *mark) &&
           write_at(fd, &era, sizeof era, offsetof(struct sfb_live, era));
}

static const char *add(struct live_map *m, int fd, const char *name, uint64_t now)
{
    struct live_mark marks[SFB_LIVE_ERAS];
    struct sfb_live_mark mark = { .time = now };
    const char *cause = live_read_head(fd, &m->head);
    uint32_t era;

    if (cause)
        return cause;
    if (find(marks, live_marks_of(&m->head, marks), name))
        return "it has a mark of this name";
    era = free_era(m);
    if (era == 0)
        return "it has 15 marks, and live blocks behind each of them";
    memcpy(mark.name, name, strlen(name));
    return write_mark(fd, era, &mark) ? NULL : strerror(errno);
}

const char *live_mark_add(struct live_map *m, const char *name, uint64_t now)
{
    const char *cause;
    char link[64];
    int fd;

    if (name[0] == '\0' || strlen(name) > SFB_LIVE_NAME)
        return "a mark's name has 1 to 32 bytes";
    if (m->state != LIVE_MAP_RUNNING && m->state != LIVE_MAP_HELD)
        return "its process is gone";
    snprintf(link, sizeof link, "/proc/self/fd/%d", m->fd);
    fd = open(link, O_RDWR | O_CLOEXEC);
    if (fd < 0)
        return strerror(errno);
    /* One mark at a time. The agent's own lock is of another kind. */
    cause = flock(fd, LOCK_EX) == 0 ? add(m, fd, name, now) : strerror(errno);
    close(fd);
    return cause;
}
