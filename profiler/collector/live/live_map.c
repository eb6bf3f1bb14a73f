#include "profiler/collector/live/live_map.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

/* --- the process ------------------------------------------------------------------------------------ */

/*
 * Whether an agent has the table mapped. Its lock on the file ends with its mapping: at the latest when the process is
 * gone, for whatever reason. It also works for processes of other PID namespaces, whose pids mean nothing here.
 */
static bool is_held(int fd)
{
    struct flock lock = { .l_type = F_WRLCK, .l_whence = SEEK_SET };

    return fcntl(fd, F_OFD_GETLK, &lock) != 0 || lock.l_type != F_UNLCK;
}

static enum live_map_state state_of(const struct live_map *m)
{
    const bool started = m->head.ticks != 0 && live_process_ticks(m->head.pid) == m->head.ticks;
    const bool mapped = started && live_process_has_mapped(m->head.pid, m->fd);

    if (m->head.flags & SFB_LIVE_LOCKED && is_held(m->fd))
        return mapped ? LIVE_MAP_RUNNING : LIVE_MAP_HELD;
    if (mapped && !(m->head.flags & SFB_LIVE_LOCKED))
        return LIVE_MAP_RUNNING;
    return started ? LIVE_MAP_REPLACED : LIVE_MAP_GONE;
}

/* --- the file --------------------------------------------------------------------------------------- */

/* Checks the file type before opening: open() of a FIFO blocks, and open() of a device may act on it. */
static const char *open_regular(int *out, struct stat *file, const char *path, int flags)
{
    const int handle = open(path, O_PATH | O_CLOEXEC | flags);
    const char *cause = NULL;
    char link[64];

    *out = -1;
    if (handle < 0)
        return strerror(errno);
    snprintf(link, sizeof link, "/proc/self/fd/%d", handle);
    if (fstat(handle, file) != 0 || !S_ISREG(file->st_mode))
        cause = "no file";
    else if ((*out = open(link, O_RDONLY | O_NONBLOCK | O_CLOEXEC | O_NOCTTY)) < 0)
        cause = strerror(errno);
    close(handle);
    return cause;
}

static const char *open_table(struct live_map *out, const char *path, int flags)
{
    struct stat file = { .st_uid = 0 };
    const char *cause;

    *out = (struct live_map){ .fd = -1, .eras = UINT32_MAX };
    cause = open_regular(&out->fd, &file, path, flags);
    out->owner = file.st_uid;
    out->links = file.st_nlink;
    if (!cause)
        cause = live_read_head(out->fd, &out->head);
    if (cause)
        live_map_close(out);
    else
        out->state = state_of(out);
    return cause;
}

const char *live_map_open(struct live_map *out, const char *path)
{
    return open_table(out, path, 0);
}

const char *live_map_open_found(struct live_map *out, const struct live_map_file *file)
{
    const char *cause = open_table(out, file->path, file->unnamed ? 0 : O_NOFOLLOW);

    if (cause)
        return cause;
    if (out->head.pid != file->pid || out->head.ticks != file->ticks)
        cause = "the table belongs to another process than the file name says";
    else if (out->links != !file->unnamed)
        cause = "it has other hard links";
    if (cause)
        live_map_close(out);
    return cause;
}

bool live_map_is_trusted(const struct live_map *m)
{
    if (!live_user_is_one(m->owner))
        return false;
    if (m->owner == 0 || m->owner == geteuid())
        return true;
    /* The start is checked last: the process may have ended, and another one may have its pid. */
    return m->head.ticks != 0 && live_process_is_of(m->head.pid, m->owner) &&
           live_process_ticks(m->head.pid) == m->head.ticks;
}

bool live_map_remove(const struct live_map *m, const char *path)
{
    struct stat opened, named;

    if (m->state == LIVE_MAP_RUNNING || m->state == LIVE_MAP_HELD)
        return false;
    /* Its process may have made another file of the same name. */
    if (fstat(m->fd, &opened) != 0 || lstat(path, &named) != 0)
        return false;
    if (opened.st_dev != named.st_dev || opened.st_ino != named.st_ino) {
        errno = EBUSY;
        return false;
    }
    return unlink(path) == 0;
}

void live_map_close(struct live_map *m)
{
    if (m->fd >= 0)
        close(m->fd);
    free(m->sum.of);
    free(m->stacks);
    free(m->pieces);
    free(m->lists);
    *m = (struct live_map){ .fd = -1 };
}

/* --- tails ------------------------------------------------------------------------------------------ */

static bool again(void *user, uint32_t index, struct sfb_live_slot *out)
{
    const struct live_map *m = user;

    return live_read_at(m->fd, out, sizeof *out, m->head.slots_at + (uint64_t)index * sizeof *out);
}

static void overrun(void *user, uint32_t index, struct sfb_live_slot slot, uint32_t tail)
{
    struct live_map *m = user;

    (void)index;
    (void)tail;
    sfb_live_sum_untailed(&m->sum, slot, m->view.head.flags & SFB_LIVE_BYPASSED);
}

static bool add_tails(void *user, const struct sfb_live_slot *slots, uint32_t first, uint32_t count)
{
    struct sfb_live_tails *tails = user;

    for (uint32_t i = first == 0; i < count; i++)
        if (live_map_wants(tails->user, slots[i]))
            sfb_live_tails_add(tails, first + i, slots[i]);
    return !tails->gone;
}

void live_map_check_tails(struct live_map *m, struct sfb_live_tails *out)
{
    sfb_live_tails_begin(out, (pid_t)m->head.pid);
    out->again = again;
    out->overrun = overrun;
    out->user = m;
    out->bypassed = m->view.head.flags & SFB_LIVE_BYPASSED;
    live_read_slots(m, add_tails, out);
    sfb_live_tails_end(out);
}
