/*
 * Traces of apitrace, a file of all calls of OpenGL, EGL or Direct3D that a program made: docs/FORMATS.md, "apitrace".
 * Read are the calls and their stacks; arguments are passed over. A frame is written out at its first use, and is a
 * number from then on: here it is an index.
 */
#ifndef CONTRIB_APITRACE_APITRACE_H
#define CONTRIB_APITRACE_APITRACE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "util/array.h"
#include "util/strings.h"

/* Texts are numbers of strings; 0 is "": not known. */
struct apitrace_frame {
    uint32_t module, function, file;
    uint64_t line;   /* 0: not known */
    uint64_t offset; /* of a function that apitrace found in it, else of the module */
};

struct apitrace {
    unsigned version; /* of the format */
    char *program;    /* "": not known */
    const char *why;  /* what is wrong; NULL: nothing. All before it was read */
    uint64_t byte;    /* where, in the unpacked data */
    size_t chunk;     /* and the chunk that it is in, in the file */
    struct report_strings strings;
    REPORT_ARRAY(uint32_t) functions; /* that were called: strings */
    REPORT_ARRAY(struct apitrace_frame) frames;
};

struct apitrace_call {
    uint64_t number; /* from 0 */
    uint64_t thread;
    uint32_t function;      /* index in `functions` */
    const uint32_t *frames; /* innermost first: indices in `frames` */
    size_t count;           /* 0: apitrace took no stack */
    bool fake;              /* apitrace made it, not the program */
};

bool apitrace_is(const uint8_t *file, size_t size);

/*
 * Reads a trace up to its end, or to the first fault.
 *
 * @param out    to be freed in any case
 * @param visit  called for each call of the trace, in order; its arguments are good until it returns. @return false: it ends the reading
 */
void apitrace_read(struct apitrace *out, const uint8_t *file, size_t size,
                   bool (*visit)(void *user, const struct apitrace *trace,
                                 const struct apitrace_call *call),
                   void *user);

/* @return the text of a string */
static inline const char *apitrace_text(const struct apitrace *trace, uint32_t string)
{
    return trace->strings.all.at[string];
}

void apitrace_free(struct apitrace *trace);

#endif
