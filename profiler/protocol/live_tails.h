/*
 * Checks the tails of live blocks, of this process or another one: each must hold its slot number. Memory unmapped
 * meanwhile does not fault: system calls read it (process_vm_readv, or /proc/PID/mem where that is refused). A slot that
 * changed meanwhile is not counted.
 *
 * Allocates nothing; the caller provides 0.6 MiB. Signals: safe.
 */
#ifndef PROFILER_PROTOCOL_LIVE_TAILS_H
#define PROFILER_PROTOCOL_LIVE_TAILS_H

#include <stdbool.h>
#include <stdint.h>
#include <sys/types.h>
#include <sys/uio.h>

#include "profiler/protocol/live.h"

enum { SFB_LIVE_TAILS_AT_ONCE = 1024, SFB_LIVE_TAILS_BYTES = 512 * 1024 };

struct sfb_live_tails {
    pid_t pid;
    int memory; /* descriptor of /proc/PID/mem; -1: process_vm_readv() works */
    /* Reads a slot again. @return false: it cannot be read */
    bool (*again)(void *user, uint32_t index, struct sfb_live_slot *out);
    /* Reports a block whose tail is overwritten. */
    void (*overrun)(void *user, uint32_t index, struct sfb_live_slot slot, uint32_t tail);
    void *user;
    uint64_t checked, overruns;
    uint64_t unseen;     /* instead of overruns, if `bypassed` */
    bool bypassed;       /* SFB_LIVE_BYPASSED: such a block may be freed, and its memory reused */
    uint64_t unknown;    /* blocks whose tail address is unknown to other processes */
    uint64_t unreadable; /* live blocks whose memory cannot be read */
    bool gone;           /* the process ended meanwhile: later blocks are not looked at */

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

/* @param out  memory of the caller; its functions, `user` and `bypassed` are set after this */
void sfb_live_tails_begin(struct sfb_live_tails *out, pid_t pid);

/* Adds a block; a full batch is checked at once. */
void sfb_live_tails_add(struct sfb_live_tails *tails, uint32_t index, struct sfb_live_slot slot);

/* Checks the remaining blocks. */
void sfb_live_tails_end(struct sfb_live_tails *tails);

#endif
