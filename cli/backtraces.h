/*
 * The backtraces of an input, one after the other: CBF says where each ends, so they may stand back
 * to back. What is wrong is complained about here, with its offset in the whole input.
 */
#ifndef CLI_BACKTRACES_H
#define CLI_BACKTRACES_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include <sfb/cbf.h>

#include "cli/tool.h"
#include "util/input.h"

struct backtraces {
    struct input input;
    struct sfb_cbf_decoder decoder; /* of the current backtrace */
    size_t base;                    /* where in the input it starts */
    uint32_t flags;
    bool begun;
    bool quiet;             /* no complaint: the caller has more to say */
    struct sfb_error error; /* the fault */
};

/*
 * Reads the input.
 *
 * @param flags  enum sfb_cbf_decoder_flags, beside SFB_CBF_STREAM
 * @param exit_status  written on failure: hex text that is wrong is bad data, the rest unreadable
 * @return false after a complaint
 */
bool backtraces_open(struct backtraces *out, const char *path, bool hex, uint32_t flags,
                     enum tool_exit *exit_status);

/* Goes to the next backtrace. @return SFB_OK, SFB_END, or the fault complained about */
enum sfb_status backtraces_next(struct backtraces *backtraces);

/* Gives the next frame of it. @return SFB_OK, SFB_END, or the fault complained about */
enum sfb_status backtraces_frame(struct backtraces *backtraces, struct sfb_cbf_item *out);

void backtraces_close(struct backtraces *backtraces);

#endif
