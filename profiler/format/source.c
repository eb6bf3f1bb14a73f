#include "profiler/format/source.h"

#include <errno.h>
#include <fcntl.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "util/read_all.h"

bool sfb_recording_source_open(struct sfb_recording_source *out, const char *path)
{
    const int fd = open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK); /* a FIFO may have no writer */
    struct stat about;

    if (fd < 0)
        return false;
    if (fstat(fd, &about) != 0 || !S_ISREG(about.st_mode)) {
        close(fd);
        errno = S_ISDIR(about.st_mode) ? EISDIR : ESPIPE;
        return false;
    }
    *out = (struct sfb_recording_source){ .fd = fd, .size = (uint64_t)about.st_size };
    return true;
}

size_t sfb_recording_source_read(const struct sfb_recording_source *s, uint64_t offset, void *out,
                                 size_t size)
{
    if (offset >= s->size)
        return 0;
    if (size > s->size - offset)
        size = (size_t)(s->size - offset);
    if (s->fd >= 0)
        return sfb_read_all_at(s->fd, out, size, offset);
    memcpy(out, s->bytes + offset, size);
    return size;
}

void sfb_recording_source_close(struct sfb_recording_source *s)
{
    if (s->fd >= 0)
        close(s->fd);
}
