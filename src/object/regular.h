/*
 * Opening what a report, a memory map or another file names.
 *
 * Whoever wrote the name may have chosen a FIFO, on which open() waits for ever, a terminal, or a
 * device that has no end or does something when it is opened. Regular files only are opened, and
 * none is waited for.
 */
#ifndef OBJECT_REGULAR_H
#define OBJECT_REGULAR_H

/**
 * Opens a regular file for reading.
 *
 * @param cause  why not; a literal or strerror()'s, valid until its next call
 *
 * @return a descriptor; -1: none, errno is set, and EINVAL says that it is no regular file
 */
int object_regular_open(const char *path, const char **cause);

#endif
