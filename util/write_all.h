/* Writing all of some bytes: write() may take a part of them, and signals interrupt it. */
#ifndef UTIL_WRITE_ALL_H
#define UTIL_WRITE_ALL_H

#include <errno.h>
#include <stddef.h>
#include <stdint.h>
#include <unistd.h>

/*
 * @return how many bytes were written; fewer than size: errno says why
 *
 * Threads, signals: safe. Inline, for archives that are installed: they link no library of this folder.
 */
static inline size_t sfb_write_all(int fd, const void *data, size_t size)
{
    size_t done = 0;

    while (done < size) {
        const ssize_t n = write(fd, (const uint8_t *)data + done, size - done);

        if (n > 0) {
            done += (size_t)n;
        } else if (n == 0) {
            errno = ENOSPC;
            break;
        } else if (errno != EINTR) {
            break;
        }
    }
    return done;
}

#endif
