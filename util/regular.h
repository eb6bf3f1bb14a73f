/*
 * Opens files that a report, a memory map or another file names.
 *
 * The name may lead to a FIFO, on which open() blocks for ever, a terminal, or a device that has no
 * end or acts when opened. Only regular files are opened.
 */
#ifndef UTIL_REGULAR_H
#define UTIL_REGULAR_H

/**
 * Opens a regular file for reading.
 *
 * @param cause  why not; a literal or strerror()'s, valid until its next call
 *
 * @return a descriptor; -1: refused: errno is set, EINVAL for other kinds of files
 */
int regular_open(const char *path, const char **cause);

#endif
