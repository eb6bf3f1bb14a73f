#include "contrib/apitrace/apitrace.h"

#include <stdlib.h>
#include <string.h>

#include "contrib/apitrace/trace_bytes.h"
#include "contrib/apitrace/trace_values.h"
#include "util/index.h"

enum {
    VERSION_MOST = 6,
    VERSION_PROPERTIES = 6, /* from here on there are some */
    VERSION_THREADS = 4,    /* from here on an event begins with its thread */
    TEXT_MOST = 1 << 16,    /* of a name */
    FRAMES_MOST = 1 << 16   /* of a stack */
};

enum { EVENT_ENTER, EVENT_LEAVE };
enum { CALL_END, CALL_ARGUMENT, CALL_RESULT, CALL_THREAD, CALL_STACK, CALL_FLAGS };
enum { FRAME_END, FRAME_MODULE, FRAME_FUNCTION, FRAME_FILE, FRAME_LINE, FRAME_OFFSET };
enum { FLAG_FAKE = 1 };

struct reading {
    struct apitrace *trace;
    struct trace_bytes bytes;
    struct trace_values values;
    struct trace_ids functions, frames;
    REPORT_ARRAY(uint32_t) stack; /* of the call at hand */
    char *text;                   /* TEXT_MOST bytes, and a NUL */
    uint64_t calls;
};

/* @return the number of a string; 0 after a fault */
static uint32_t take_string(struct reading *r)
{
    const uint64_t size = trace_number(&r->bytes);
    uint32_t string = 0;

    if (size > TEXT_MOST)
        trace_bytes_fail(&r->bytes, "a name of more than 64 KiB");
    if (r->bytes.why || !trace_copy(&r->bytes, r->text, (size_t)size))
        return 0;
    r->text[size] = '\0';
    if (!report_strings_add(&r->trace->strings, r->text, &string))
        trace_bytes_fail(&r->bytes, "no memory");
    return string;
}

/* --- Stacks -------------------------------------------------------------------------------------- */

static void take_frame_details(struct reading *r, struct apitrace_frame *frame)
{
    while (!r->bytes.why) {
        switch (trace_byte(&r->bytes)) {
        case FRAME_END: return;
        case FRAME_MODULE: frame->module = take_string(r); break;
        case FRAME_FUNCTION: frame->function = take_string(r); break;
        case FRAME_FILE: frame->file = take_string(r); break;
        case FRAME_LINE: frame->line = trace_number(&r->bytes); break;
        case FRAME_OFFSET: frame->offset = trace_number(&r->bytes); break;
        default: trace_bytes_fail(&r->bytes, "a frame with a detail of no known kind");
        }
    }
}

static void take_frame(struct reading *r)
{
    struct apitrace_frame read = { .line = 0 }, *frame;
    uint32_t number, *next;

    if (trace_ids_take(&r->frames, &r->bytes, &number)) {
        take_frame_details(r, &read);
        frame = REPORT_NEXT(r->trace->frames);
        if (!frame) {
            trace_bytes_fail(&r->bytes, "no memory");
            return;
        }
        *frame = read;
    }
    if (r->bytes.why)
        return;
    next = REPORT_NEXT(r->stack);
    if (next)
        *next = number;
    else
        trace_bytes_fail(&r->bytes, "no memory");
}

static void take_stack(struct reading *r)
{
    const uint64_t count = trace_number(&r->bytes);

    if (count > FRAMES_MOST)
        trace_bytes_fail(&r->bytes, "a stack of more than 65536 frames");
    r->stack.count = 0;
    for (uint64_t i = 0; i < count && !r->bytes.why; i++)
        take_frame(r);
}

/* --- Calls --------------------------------------------------------------------------------------- */

static void take_details(struct reading *r, struct apitrace_call *call)
{
    while (!r->bytes.why) {
        switch (trace_byte(&r->bytes)) {
        case CALL_END: return;
        case CALL_ARGUMENT:
            trace_number(&r->bytes); /* which one */
            __attribute__((fallthrough));
        case CALL_RESULT: trace_value_skip(&r->values, &r->bytes); break;
        case CALL_THREAD: call->thread = trace_number(&r->bytes); break;
        case CALL_STACK: take_stack(r); break;
        case CALL_FLAGS: call->fake = trace_number(&r->bytes) & FLAG_FAKE; break;
        default: trace_bytes_fail(&r->bytes, "a call with a detail of no known kind");
        }
    }
}

static uint32_t take_function(struct reading *r)
{
    uint32_t number, *function;
    uint64_t arguments;

    if (!trace_ids_take(&r->functions, &r->bytes, &number))
        return number;
    function = REPORT_NEXT(r->trace->functions);
    if (!function) {
        trace_bytes_fail(&r->bytes, "no memory");
        return 0;
    }
    *function = take_string(r);
    arguments = trace_number(&r->bytes);
    for (uint64_t i = 0; i < arguments && !r->bytes.why; i++)
        trace_skip_string(&r->bytes);
    return number;
}

/* @return whether there was a call; false: a fault */
static bool take_enter(struct reading *r, struct apitrace_call *call)
{
    *call = (struct apitrace_call){ .number = r->calls++ };
    if (r->trace->version >= VERSION_THREADS)
        call->thread = trace_number(&r->bytes);
    call->function = take_function(r);
    r->stack.count = 0;
    take_details(r, call);
    call->frames = r->stack.at;
    call->count = r->stack.count;
    return !r->bytes.why;
}

static void take_properties(struct reading *r)
{
    while (!r->bytes.why) {
        const uint32_t name = take_string(r);

        if (r->bytes.why || apitrace_text(r->trace, name)[0] == '\0')
            return;
        if (strcmp(apitrace_text(r->trace, name), "process.name") == 0) {
            const uint32_t value = take_string(r);

            free(r->trace->program);
            r->trace->program = strdup(apitrace_text(r->trace, value));
        } else {
            trace_skip_string(&r->bytes);
        }
    }
}

static void take_head(struct reading *r)
{
    const uint64_t version = trace_number(&r->bytes);

    if (version > VERSION_MOST)
        trace_bytes_fail(&r->bytes, "a trace of a later version");
    if (r->bytes.why)
        return;
    r->trace->version = r->values.version = (unsigned)version;
    if (version >= VERSION_PROPERTIES) {
        trace_number(&r->bytes); /* what calls mean */
        take_properties(r);
    }
}

static void read_all(struct reading *r,
                     bool (*visit)(void *, const struct apitrace *, const struct apitrace_call *),
                     void *user)
{
    struct apitrace_call call;
    bool more = true;

    take_head(r);
    while (more && trace_bytes_more(&r->bytes)) {
        switch (trace_byte(&r->bytes)) {
        case EVENT_ENTER: more = take_enter(r, &call) && visit(user, r->trace, &call); break;
        case EVENT_LEAVE:
            trace_number(&r->bytes); /* of which call */
            take_details(r, &call);
            break;
        default: trace_bytes_fail(&r->bytes, "an event of no known kind");
        }
    }
}

bool apitrace_is(const uint8_t *file, size_t size)
{
    return trace_bytes_are(file, size);
}

void apitrace_read(struct apitrace *out, const uint8_t *file, size_t size,
                   bool (*visit)(void *, const struct apitrace *, const struct apitrace_call *),
                   void *user)
{
    struct reading r = { .trace = out, .text = malloc(TEXT_MOST + 1) };
    uint32_t empty;

    *out = (struct apitrace){ .program = NULL };
    trace_bytes_open(&r.bytes, file, size);
    if (!r.text || !report_strings_add(&out->strings, "", &empty))
        trace_bytes_fail(&r.bytes, "no memory");
    else
        read_all(&r, visit, user);
    out->why = r.bytes.why;
    out->byte = r.bytes.before + r.bytes.pos;
    out->chunk = r.bytes.this;
    trace_bytes_close(&r.bytes);
    trace_values_free(&r.values);
    report_index_free(&r.functions.ids);
    report_index_free(&r.frames.ids);
    free(r.stack.at);
    free(r.text);
}

void apitrace_free(struct apitrace *trace)
{
    report_strings_free(&trace->strings);
    free(trace->functions.at);
    free(trace->frames.at);
    free(trace->program);
}
