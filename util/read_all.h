/*
 * Reading so many bytes: read() may give a part of them, and signals interrupt it.
 *
 * Threads, signals: safe. Inline, for agents and for archives that are installed: they link no library of this folder.
 */
#ifndef UTIL_READ_ALL_H
#define UTIL_READ_ALL_H

#include <errno.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <unistd.h>

/* Adds what a call gave. @return whether there may be more; if not, errno says why, 0: the end of the file */
static inline bool sfb_read_add(size_t *done, ssize_t more)
{
    if (more > 0)
        *done += (size_t)more;
    else if (more == 0)
        errno = 0;
    return more > 0 || (more < 0 && errno == EINTR);
}

/* @return how many bytes were read; fewer than size: errno says why, 0: the end of the file */
static inline size_t sfb_read_all(int fd, void *out, size_t size)
{
    size_t done = 0;

    while (done < size && sfb_read_add(&done, read(fd, (uint8_t *)out + done, size - done)))
        ;
    return done;
}

/* The same from an offset; where the descriptor stands does not change. */
static inline size_t sfb_read_all_at(int fd, void *out, size_t size, uint64_t offset)
{
    size_t done = 0;

    while (done < size && sfb_read_add(&done, pread(fd, (uint8_t *)out + done, size - done,
                                                    (off_t)(offset + done))))
        ;
    return done;
}

#endif
