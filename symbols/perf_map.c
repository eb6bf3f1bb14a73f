#include "symbols/perf_map.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "util/hex.h"
#include "util/read_all.h"

/* --- lines ------------------------------------------------------------------------------------- */

static bool number(const char **at, const char *end, uint64_t *out)
{
    size_t digits;

    if (end - *at > 2 && (*at)[0] == '0' && (*at)[1] == 'x') /* some writers add 0x */
        *at += 2;
    digits = hex_number(*at, (size_t)(end - *at), out);
    *at += digits;
    return digits > 0 && *at < end && *(*at)++ == ' ';
}

/* @param end  of the line; receives a zero */
static bool parse(struct object_perf_symbol *out, const char *at, char *end)
{
    *end = '\0';
    if (!number(&at, end, &out->start) || !number(&at, end, &out->size) || at == end || *at == '\0')
        return false;
    out->name = at;
    return out->size > 0 && out->start + out->size > out->start;
}

static size_t count_lines(const char *text, size_t size)
{
    size_t lines = 1;

    for (const char *at = text; (at = memchr(at, '\n', size - (size_t)(at - text))) != NULL; at++)
        lines++;
    return lines;
}

static void read_lines(struct object_perf_map *map, size_t size)
{
    char *at = map->text, *const behind = map->text + size;

    for (size_t line = 1; at < behind; line++) {
        char *newline = memchr(at, '\n', (size_t)(behind - at)), *end = newline ? newline : behind;

        if (parse(&map->symbols[map->count], at, end)) {
            map->count++;
        } else if (map->bad_lines++ == 0) {
            map->first_bad = line;
        }
        at = end + 1;
    }
}

/* --- lookup ------------------------------------------------------------------------------------
 *
 * The starts and ends of all lines cut the addresses into stretches. From the last line to the
 * first, each takes its free stretches; `next` skips taken ones.
 */

static int by_value(const void *a, const void *b)
{
    const uint64_t x = *(const uint64_t *)a, y = *(const uint64_t *)b;

    return x < y ? -1 : x > y;
}

static size_t index_of(const struct object_perf_map *map, uint64_t bound)
{
    const uint64_t *at =
        bsearch(&bound, map->bounds, map->bound_count, sizeof *map->bounds, by_value);

    return (size_t)(at - map->bounds);
}

/* The first free stretch from i on, with path compression. */
static uint32_t first_free(uint32_t *next, uint32_t i)
{
    uint32_t found = i;

    while (next[found] != found)
        found = next[found];
    while (next[i] != found) {
        const uint32_t after = next[i];

        next[i] = found;
        i = after;
    }
    return found;
}

static void sort_bounds(struct object_perf_map *map)
{
    size_t n = 0;

    for (size_t i = 0; i < map->count; i++) {
        map->bounds[2 * i] = map->symbols[i].start;
        map->bounds[2 * i + 1] = map->symbols[i].start + map->symbols[i].size;
    }
    if (map->count > 0)
        qsort(map->bounds, 2 * map->count, sizeof *map->bounds, by_value);
    for (size_t i = 0; i < 2 * map->count; i++)
        if (n == 0 || map->bounds[n - 1] != map->bounds[i])
            map->bounds[n++] = map->bounds[i];
    map->bound_count = n;
}

static bool make_stretches(struct object_perf_map *map)
{
    uint32_t *next;

    map->bounds = calloc(2 * map->count + 1, sizeof *map->bounds);
    map->owners = calloc(2 * map->count + 1, sizeof *map->owners);
    next = calloc(2 * map->count + 1, sizeof *next);
    if (!map->bounds || !map->owners || !next) {
        free(next);
        return false;
    }
    sort_bounds(map);
    for (size_t i = 0; i <= map->bound_count; i++)
        next[i] = (uint32_t)i;
    for (size_t i = map->count; i > 0; i--) {
        const struct object_perf_symbol *s = &map->symbols[i - 1];
        const size_t end = index_of(map, s->start + s->size);
        uint32_t at = first_free(next, (uint32_t)index_of(map, s->start));

        for (; at < end; at = first_free(next, at)) {
            map->owners[at] = (uint32_t)i;
            next[at] = at + 1;
        }
    }
    free(next);
    return true;
}

bool object_perf_map_read(struct object_perf_map *out, char *text, size_t size)
{
    *out = (struct object_perf_map){ .text = text };
    text[size] = '\0';
    out->symbols = calloc(count_lines(text, size), sizeof *out->symbols);
    if (!out->symbols)
        return false;
    read_lines(out, size);
    return make_stretches(out);
}

const struct object_perf_symbol *object_perf_map_find(const struct object_perf_map *map,
                                                      uint64_t address)
{
    size_t low = 0, high = map->bound_count;

    while (low < high) {
        const size_t middle = low + (high - low) / 2;

        if (map->bounds[middle] <= address)
            low = middle + 1;
        else
            high = middle;
    }
    return low > 0 && map->owners[low - 1] > 0 ? &map->symbols[map->owners[low - 1] - 1] : NULL;
}

void object_perf_map_free(struct object_perf_map *map)
{
    free(map->text);
    free(map->symbols);
    free(map->bounds);
    free(map->owners);
    *map = (struct object_perf_map){ .count = 0 };
}

/* --- the file ---------------------------------------------------------------------------------- */

/* The process's pid in its own namespace, and its effective user, by /proc/PID/status. */
static bool ask_status(pid_t pid, pid_t *inner, uid_t *user)
{
    char path[32], line[512];
    bool known = false;
    FILE *from;

    snprintf(path, sizeof path, "/proc/%d/status", (int)pid);
    from = fopen(path, "re");
    *inner = pid;
    while (from && fgets(line, sizeof line, from)) {
        const char *last = strrchr(line, '\t');
        char *end;

        if (strncmp(line, "NSpid:", 6) == 0 && last)
            *inner = (pid_t)strtol(last, NULL, 10);
        if (strncmp(line, "Uid:\t", 5) == 0) { /* real, effective, ... */
            strtoul(line + 5, &end, 10);
            *user = (uid_t)strtoul(end, NULL, 10);
            known = true;
        }
    }
    if (from)
        fclose(from);
    return known;
}

/* @return NULL, or why the file is not used */
static const char *judge(const struct stat *status, uid_t user)
{
    if (!S_ISREG(status->st_mode))
        return "not a regular file";
    if (status->st_uid != user && status->st_uid != 0)
        return "it belongs to another user than the process";
    if (status->st_size > (off_t)OBJECT_PERF_MAP_MAX)
        return "larger than 256 MiB";
    return NULL;
}

/* @return the text, one byte longer than its size; NULL: see *cause */
static char *read_file(const char *path, uid_t user, size_t *size, const char **cause)
{
    struct stat status;
    char *text = NULL;
    int fd = -1;

    *cause = lstat(path, &status) != 0 ? strerror(errno) : judge(&status, user);
    if (!*cause)
        fd = open(path, O_RDONLY | O_CLOEXEC | O_NOFOLLOW | O_NONBLOCK | O_NOCTTY);
    if (!*cause && (fd < 0 || fstat(fd, &status) != 0))
        *cause = strerror(errno);
    if (!*cause)
        *cause = judge(&status, user);
    if (!*cause && !(text = malloc((size_t)status.st_size + 1)))
        *cause = strerror(ENOMEM);
    if (!*cause) {
        *size = sfb_read_all(fd, text, (size_t)status.st_size);
        if (*size < (size_t)status.st_size && errno != 0)
            *cause = strerror(errno);
    }
    if (fd >= 0)
        close(fd);
    if (!*cause)
        return text;
    free(text);
    return NULL;
}

int object_perf_map_open(struct object_perf_map *out, const struct object_process *process,
                         char path[OBJECT_PROCESS_PATH], const char **cause)
{
    struct stat status;
    pid_t inner;
    uid_t user = 0;
    size_t size;
    char *text;

    if (!ask_status(process->pid, &inner, &user))
        return 0; /* the process has exited */
    snprintf(path, OBJECT_PROCESS_PATH, "%s/tmp/perf-%d.map", process->root, (int)inner);
    if (lstat(path, &status) != 0 && errno == ENOENT)
        return 0;
    text = read_file(path, user, &size, cause);
    if (!text)
        return -1;
    if (object_perf_map_read(out, text, size))
        return 1;
    object_perf_map_free(out);
    *cause = strerror(ENOMEM);
    return -1;
}
