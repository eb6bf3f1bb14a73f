/* The frames of a stack as numbers, for formats that have tables of frames. */
#ifndef PROFILER_REPORT_FORMATS_FRAMES_H
#define PROFILER_REPORT_FORMATS_FRAMES_H

#include "profiler/report/model/model.h"

/* Stands for missing frames. Numbered behind the model's lines, and behind its functions. */
enum report_frame_mark {
    REPORT_FRAME_OMITTED,
    REPORT_FRAME_TRUNCATED,
    REPORT_FRAME_NO_STACK,
    REPORT_FRAME_UNSAMPLED,
    REPORT_FRAME_AWAIT,
    REPORT_FRAME_MARKS
};

/* "[omitted]", "[truncated]", "[no stack]", "[unsampled]", "[await]" */
extern const char *const report_frame_marks[REPORT_FRAME_MARKS];

struct report_frame {
    uint32_t line;     /* index in the model's lines; number of lines + a mark */
    uint32_t function; /* index; number of functions + a mark */
    uint32_t location; /* index; REPORT_NONE: a mark */
    uint32_t depth;    /* of an inlined function: 1 is inlined into the function that contains it */
};

struct report_frames {
    REPORT_ARRAY(struct report_frame) all; /* leaf first */
};

/*
 * Takes all frames of a stack, folded ones included.
 *
 * @param stack  index; REPORT_NONE: none was taken, which is one frame
 * @return false: no memory
 */
bool report_frames_take(struct report_frames *out, const struct report_model *model,
                        uint32_t stack);

/* Takes one mark in place of a stack. @return false: no memory */
bool report_frames_take_mark(struct report_frames *out, const struct report_model *model,
                             enum report_frame_mark mark);

/* @return the name of a function, or of a mark */
const char *report_frame_name(const struct report_model *model, uint32_t function);

/* @return the source file of a function, "": not known */
const char *report_frame_file(const struct report_model *model, uint32_t function);

#endif
