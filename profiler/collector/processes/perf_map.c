#include "profiler/collector/processes/perf_map.h"

#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/stat.h>
#include <unistd.h>

#include "util/read_all.h"

static const off_t size_max = 64 << 20;

/* Any user may write to /tmp: the path may be a link, a FIFO or a device. */
static int open_map(const char *path, unsigned owner, struct stat *file)
{
    const int fd = open(path, O_RDONLY | O_CLOEXEC | O_NOFOLLOW | O_NONBLOCK | O_NOCTTY);

    if (fd < 0)
        return -1;
    if (fstat(fd, file) == 0 && S_ISREG(file->st_mode) && file->st_uid == owner &&
        file->st_size > 0 && file->st_size <= size_max)
        return fd;
    close(fd);
    return -1;
}

void sfb_recorder_perf_map_take(struct sfb_recording_writer *writer, uint32_t id, pid_t pid,
                                unsigned owner)
{
    struct stat status;
    char path[64], *bytes;
    int fd;

    snprintf(path, sizeof path, "/tmp/perf-%ld.map", (long)pid);
    fd = open_map(path, owner, &status);
    if (fd < 0)
        return;
    bytes = malloc((size_t)status.st_size);
    if (bytes) {
        const struct sfb_recording_file file = {
            .process = id,
            .name = path,
            .bytes = bytes,
            .size = sfb_read_all(fd, bytes, (size_t)status.st_size),
        };
        sfb_recording_put_file(writer, &file);
    }
    free(bytes);
    close(fd);
}
