#include "profiler/collector/outside/look_mappings.h"

#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#include "util/grow.h"

/* Of a larger map, which a hundred thousand mappings have, the rest is not known. */
enum { PART = 64 << 10, TEXT_MOST = 16 << 20 };

static const uint64_t again_ns = 100000000;

static uint64_t now_ns(void)
{
    struct timespec t;

    clock_gettime(CLOCK_MONOTONIC, &t);
    return (uint64_t)t.tv_sec * 1000000000 + (uint64_t)t.tv_nsec;
}

static void read_text(struct look_mappings *m, pid_t pid)
{
    char path[32];
    ssize_t size = 1;
    int fd;

    m->size = 0;
    snprintf(path, sizeof path, "/proc/%d/maps", (int)pid);
    fd = open(path, O_RDONLY | O_CLOEXEC);
    while (fd >= 0 && size > 0 && m->size + PART < TEXT_MOST &&
           array_make_room_for(&m->text, &m->room, m->size + PART + 1)) {
        size = read(fd, m->text + m->size, PART);
        m->size += size > 0 ? (size_t)size : 0;
    }
    if (fd >= 0)
        close(fd);
    if (m->text)
        m->text[m->size] = '\0';
}

/* Zeroed memory stands right behind its module. */
static bool is_of(const struct look_mapping *module, const struct look_mapping *next)
{
    if (next->name[0] != '\0')
        return strcmp(module->name, next->name) == 0;
    return next->start == module->end && module->writable && next->writable &&
           module->name[0] == '/';
}

/* "START-END RIGHTS OFFSET DEVICE INODE    NAME". @return false: it is no such line */
static bool read_line(struct look_mapping *out, char *line)
{
    enum { FIELDS = 4 };
    char *at;

    out->start = strtoull(line, &at, 16);
    if (*at != '-')
        return false;
    out->end = strtoull(at + 1, &at, 16);
    if (*at != ' ' || at[1] == '\0')
        return false;
    out->writable = at[2] == 'w';
    for (unsigned i = 0; i < FIELDS; i++) {
        at += strspn(at, " ");
        at += strcspn(at, " ");
    }
    out->name = at + strspn(at, " ");
    return true;
}

/* @return false: no memory */
static bool add(struct look_mappings *m, char *line)
{
    struct look_mapping next = { .name = "" }, *place;

    if (!read_line(&next, line))
        return true;
    next.module = next.start;
    if (m->all.count > 0) {
        const struct look_mapping *before = &m->all.at[m->all.count - 1];

        if (is_of(before, &next)) {
            next.module = before->module;
            next.name = before->name;
        }
    }
    place = REPORT_NEXT(m->all);
    if (place)
        *place = next;
    return place != NULL;
}

static void read_all(struct look_mappings *m, pid_t pid)
{
    char *line, *rest;

    m->read_at = now_ns();
    m->all.count = 0;
    read_text(m, pid);
    line = m->size > 0 ? strtok_r(m->text, "\n", &rest) : NULL;
    while (line && add(m, line))
        line = strtok_r(NULL, "\n", &rest);
}

static const struct look_mapping *find(const struct look_mappings *m, uint64_t address)
{
    size_t low = 0, high = m->all.count;

    while (low < high) {
        const size_t middle = low + (high - low) / 2;

        if (m->all.at[middle].end <= address)
            low = middle + 1;
        else
            high = middle;
    }
    return low < m->all.count && m->all.at[low].start <= address ? &m->all.at[low] : NULL;
}

const struct look_mapping *look_mappings_find(struct look_mappings *m, pid_t pid, uint64_t address)
{
    const struct look_mapping *found = find(m, address);

    if (found || (m->read_at != 0 && now_ns() - m->read_at < again_ns))
        return found;
    read_all(m, pid);
    return find(m, address);
}

void look_mappings_forget(struct look_mappings *m)
{
    m->all.count = 0;
    m->read_at = 0;
}

void look_mappings_free(struct look_mappings *m)
{
    free(m->all.at);
    free(m->text);
    *m = (struct look_mappings){ .text = NULL };
}
