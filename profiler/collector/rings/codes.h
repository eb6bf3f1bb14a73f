/* The Python functions of a process, as its agent sent them: names go to the recording once, tables of lines stay here. */
#ifndef PROFILER_COLLECTOR_RINGS_CODES_H
#define PROFILER_COLLECTOR_RINGS_CODES_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "profiler/collector/rings/dictionary.h"
#include "sfb/recording.h"

struct sfb_recorder_code {
    uint32_t id; /* in the recording */
    uint32_t first_line;
    uint32_t lines_size;
    uint8_t *lines; /* NULL: not known */
};

struct sfb_recorder_codes {
    struct sfb_recorder_dictionary by_key; /* index + 1 */
    struct sfb_recorder_code *all;
    size_t count, room;
    size_t bytes; /* of tables of lines */
    bool full;    /* a function found no room: calls wait for none that is missing */
};

/* What the processes of a drain have together: a program may fork at will. All zero at first. */
struct sfb_recorder_codes_kept {
    size_t count, bytes;
};

/* What an agent sent, checked. */
struct sfb_recorder_code_text {
    char name[SFB_SHARED_CODE_NAME + 1];
    char file[SFB_SHARED_CODE_FILE + 1];
    const uint8_t *lines;
};

/*
 * Checks a record.
 *
 * @param record  a copy, of `size` bytes
 * @return its fault; NULL: no fault
 */
const char *sfb_recorder_code_read(struct sfb_shared_code *out, struct sfb_recorder_code_text *text,
                                   const uint8_t *record, size_t size);

/* @return false: the process has 131,072 functions, or all together have 524,288. Their calls have no function */
bool sfb_recorder_codes_have_room(struct sfb_recorder_codes *codes,
                                  const struct sfb_recorder_codes_kept *kept);

/*
 * Adds a function that there is room for, with the id that it got. Behind 64 MiB of tables of lines of a process, and 256
 * of all together, its lines are not known.
 *
 * @return false: no memory
 */
bool sfb_recorder_codes_add(struct sfb_recorder_codes *codes, struct sfb_recorder_codes_kept *kept,
                            const struct sfb_shared_code *code,
                            const struct sfb_recorder_code_text *text, uint32_t id);

/* @return whether one of that key was added */
bool sfb_recorder_codes_has(const struct sfb_recorder_codes *codes, uint64_t key);

/*
 * Gives the calls of a stack as the recording has them.
 *
 * @param calls    as the agent sent them, at any alignment
 * @param missing  written: one of them is of a function that is not known, which is 0 then, and may still come
 * @return its fault; NULL: no fault
 */
const char *sfb_recorder_codes_frames(struct sfb_recording_code_frame *out,
                                      const struct sfb_recorder_codes *codes, const uint8_t *calls,
                                      size_t count, bool *missing);

void sfb_recorder_codes_free(struct sfb_recorder_codes *codes,
                             struct sfb_recorder_codes_kept *kept);

#endif
