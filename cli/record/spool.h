/* sfb record --spool: a folder of recordings. Uploaded ones are dropped first. */
#ifndef CLI_RECORD_SPOOL_H
#define CLI_RECORD_SPOOL_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/*
 * A recording's name says what became of it:
 *
 *     HOST-20261128T195500.123Z.part          is being written
 *     HOST-20261128T195500.123Z.sfbr          whole, not uploaded
 *     HOST-20261128T195500.123Z.sent.sfbr     uploaded
 *     HOST-20261128T195500.123Z.refused.sfbr  the receiver will not have it
 */
enum spool_state { SPOOL_WAITING, SPOOL_SENT, SPOOL_REFUSED };

struct spool {
    char folder[4096];
    uint64_t keep; /* bytes of all recordings; 0: no limit */
    int fd;        /* of the folder */
    int lock;
};

struct spool_name {
    char text[512]; /* below the folder, or whole: spool_path() */
};

/*
 * Opens a folder, makes it if it is not there, for this user alone, and takes it for this process. A recording that a killed
 * one left half-written becomes a whole one: what it has can be read.
 *
 * @return false after a complaint
 */
bool spool_open(struct spool *out, const char *folder, uint64_t keep);

/* Names a recording that begins now. @return its path, good until the next call */
const char *spool_begin(const struct spool *spool, struct spool_name *name);

/* It is whole now: on the disk, and to be uploaded. @return false after a complaint */
bool spool_end(const struct spool *spool, const struct spool_name *name);

/* Drops the oldest recordings until all fit: uploaded ones first. @return how many were dropped that were not uploaded */
size_t spool_trim(const struct spool *spool);

/* Finds the oldest recording that waits. @param after  "" or a name: a later one. @return false: no recording waits */
bool spool_next(const struct spool *spool, const char *after, struct spool_name *name);

/* Notes what became of a recording that waited. @return false: it was dropped meanwhile, or errno says why not */
bool spool_mark(const struct spool *spool, const struct spool_name *name, enum spool_state state);

/* @return its path, good until the next call */
const char *spool_path(const struct spool *spool, const struct spool_name *name);

void spool_close(struct spool *spool);

#endif
