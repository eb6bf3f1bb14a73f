/*
 * Looks at the tails of live blocks, of this process or another one: each has to hold the number of its slot. Memory
 * that is gone meanwhile is no fault: all is read by system calls (process_vm_readv, or /proc/PID/mem where that is
 * refused), and a slot that changed is not counted.
 *
 * Allocates nothing, but takes 0.6 MiB. Signals: safe.
 */
#ifndef SFB_RECORDER_LIVE_TAILS_H
#define SFB_RECORDER_LIVE_TAILS_H

#include <stdbool.h>
#include <stdint.h>
#include <sys/types.h>
#include <sys/uio.h>

#include "recorder/live.h"

enum { SFB_LIVE_TAILS_AT_ONCE = 1024, SFB_LIVE_TAILS_BYTES = 512 * 1024 };

struct sfb_live_tails {
    pid_t pid;
    int memory; /* of /proc/PID/mem; -1: process_vm_readv() serves */
    /* Reads a slot again. @return false: it cannot be read */
    bool (*again)(void *user, uint32_t index, struct sfb_live_slot *out);
    /* A block whose tail is overwritten. */
    void (*overrun)(void *user, uint32_t index, struct sfb_live_slot slot, uint32_t tail);
    void *user;
    uint64_t checked, overruns;
    uint64_t unknown;    /* blocks whose tail nobody finds from outside */
    uint64_t unreadable; /* live blocks whose memory cannot be read */

    uint32_t count, spans;
    size_t bytes;
    struct {
        struct sfb_live_slot slot;
        uint32_t index;
        uint32_t at; /* in bytes_read */
    } wanted[SFB_LIVE_TAILS_AT_ONCE];
    struct iovec span[SFB_LIVE_TAILS_AT_ONCE];
    uint8_t bytes_read[SFB_LIVE_TAILS_BYTES];
};

/* @param out  memory of the caller, of which the first members are set */
void sfb_live_tails_begin(struct sfb_live_tails *out, pid_t pid);

/* Adds a block; looks at all that were added when there are enough. */
void sfb_live_tails_add(struct sfb_live_tails *tails, uint32_t index, struct sfb_live_slot slot);

/* Looks at those that are left. */
void sfb_live_tails_end(struct sfb_live_tails *tails);

#endif
