#include "recording/source.h"

#include <errno.h>
#include <fcntl.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

bool sfb_recording_source_open(struct sfb_recording_source *out, const char *path)
{
    const int fd = open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK); /* a FIFO without a writer */
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

static size_t read_file(const struct sfb_recording_source *s, uint64_t offset, uint8_t *out,
                        size_t size)
{
    size_t done = 0;

    while (done < size) {
        const ssize_t n = pread(s->fd, out + done, size - done, (off_t)(offset + done));

        if (n < 0 && errno == EINTR)
            continue;
        if (n <= 0)
            break;
        done += (size_t)n;
    }
    return done;
}

size_t sfb_recording_source_read(const struct sfb_recording_source *s, uint64_t offset, void *out,
                                 size_t size)
{
    if (offset >= s->size)
        return 0;
    if (size > s->size - offset)
        size = (size_t)(s->size - offset);
    if (s->fd >= 0)
        return read_file(s, offset, out, size);
    memcpy(out, s->bytes + offset, size);
    return size;
}

void sfb_recording_source_close(struct sfb_recording_source *s)
{
    if (s->fd >= 0)
        close(s->fd);
}
