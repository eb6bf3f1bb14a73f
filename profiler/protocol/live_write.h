/* Writes a dump of a live table as lines, to a callback. Allocates nothing. Signals: safe if the callback is. */
#ifndef PROFILER_PROTOCOL_LIVE_WRITE_H
#define PROFILER_PROTOCOL_LIVE_WRITE_H

#include <stdbool.h>
#include <stddef.h>

#include "profiler/protocol/live_view.h"
#include "sfb/image_map.h"

enum { SFB_LIVE_WRITE_TEXT = 1 << 18, SFB_LIVE_WRITE_PREFIXES = 1 << 13 };

struct sfb_live_write {
    void *user;
    /* Takes whole lines. @return false: it cannot */
    bool (*put)(void *user, const char *lines, size_t size);

    uint64_t pid;
    size_t used;
    char lines
        [4096]; /* PIPE_BUF: a pipe writes so much atomically, so lines of other writers do not mix in */
    char line[SFB_LIVE_LINE_MAX];
    char text[SFB_LIVE_WRITE_TEXT]; /* paths of modules */
    struct sfb_image_map_prefix prefixes[SFB_LIVE_WRITE_PREFIXES];
    uint8_t map[SFB_LIVE_LINE_BYTES]; /* of one module */
};

/* @param out  memory of the caller, any contents */
void sfb_live_write_begin(struct sfb_live_write *out,
                          bool (*put)(void *user, const char *lines, size_t size), void *user,
                          struct sfb_live_visitor *visitor);

/* Writes the rest. @return false: a write failed */
bool sfb_live_write_flush(struct sfb_live_write *write);

#endif
