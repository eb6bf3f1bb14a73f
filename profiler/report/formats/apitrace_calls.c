#include "profiler/report/formats/apitrace_calls.h"

#include <inttypes.h>
#include <snappy-c.h>
#include <stdlib.h>
#include <string.h>

#include "profiler/report/formats/frames.h"
#include "profiler/report/formats/types.h"
#include "profiler/report/model/parts.h"

/* Its numbers: docs/FORMATS.md. */
enum {
    VERSION = 6,
    EVENT_ENTER = 0,
    EVENT_LEAVE = 1,
    CALL_END = 0,
    CALL_ARGUMENT = 1,
    CALL_STACK = 4,
    TYPE_NUMBER = 4,
    FRAME_END = 0,
    FRAME_MODULE = 1,
    FRAME_FUNCTION = 2,
    FRAME_FILE = 3,
    FRAME_LINE = 4,
    FRAME_OFFSET = 5
};

enum { CHUNK = 1 << 20 }; /* unpacked: what apitrace has room for */

struct trace {
    FILE *to;
    const struct report_model *model;
    uint8_t *chunk;
    size_t size;
    char *packed; /* a chunk */
    size_t packed_room;
    bool *written;  /* of each frame: it has its number's details */
    uint64_t calls; /* so far */
    bool named;     /* the arguments have their names */
};

/* --- Bytes --------------------------------------------------------------------------------------- */

static void put_chunk(struct trace *t)
{
    size_t size = t->packed_room;

    if (t->size == 0 || snappy_compress((const char *)t->chunk, t->size, t->packed, &size) !=
                            SNAPPY_OK) /* there is room */
        return;
    for (unsigned i = 0; i < 4; i++)
        putc((int)(size >> 8 * i & 0xff), t->to);
    fwrite(t->packed, 1, size, t->to);
    t->size = 0;
}

static void put_byte(struct trace *t, unsigned byte)
{
    if (t->size == CHUNK)
        put_chunk(t);
    t->chunk[t->size++] = (uint8_t)byte;
}

static void put_number(struct trace *t, uint64_t number)
{
    while (number >= 0x80) {
        put_byte(t, (unsigned)(number & 0x7f) | 0x80);
        number >>= 7;
    }
    put_byte(t, (unsigned)number);
}

static void put_text(struct trace *t, const char *text)
{
    put_number(t, strlen(text));
    for (; *text; text++)
        put_byte(t, (unsigned char)*text);
}

/* --- Stacks -------------------------------------------------------------------------------------- */

static void put_detail(struct trace *t, unsigned kind, const char *text)
{
    if (text[0] == '\0')
        return;
    put_byte(t, kind);
    put_text(t, text);
}

static void put_details(struct trace *t, const struct report_frame *frame)
{
    const struct report_model *model = t->model;
    const struct report_location *l =
        frame->location == REPORT_NONE ? NULL : &model->locations.at[frame->location];

    if (l)
        put_detail(t, FRAME_MODULE, report_text(model, model->modules.at[l->module].path));
    put_detail(t, FRAME_FUNCTION, report_frame_name(model, frame->function));
    if (l) {
        const struct report_line *line = &model->lines.at[frame->line];

        put_detail(t, FRAME_FILE, report_text(model, line->file));
        if (line->line > 0) {
            put_byte(t, FRAME_LINE);
            put_number(t, line->line);
        }
        if (l->kind == REPORT_NATIVE) {
            put_byte(t, FRAME_OFFSET);
            put_number(t, l->offset);
        }
    }
    put_byte(t, FRAME_END);
}

static void put_stack(struct trace *t, const struct report_frames *frames)
{
    put_byte(t, CALL_STACK);
    put_number(t, frames->all.count);
    for (size_t i = 0; i < frames->all.count; i++) {
        const struct report_frame *frame = &frames->all.at[i];

        put_number(t, frame->line);
        if (!t->written[frame->line])
            put_details(t, frame);
        t->written[frame->line] = true;
    }
}

/* --- Calls --------------------------------------------------------------------------------------- */

/* "samples", "cpu_nanoseconds" */
static void put_names(struct trace *t)
{
    const size_t types = report_known_types(t->model);

    put_text(t, "sample");
    put_number(t, types);
    for (size_t i = 0; i < types; i++) {
        const struct report_value_type *type = &t->model->types[i];
        const bool counts = strcmp(type->unit, "count") == 0;
        char name[64];

        snprintf(name, sizeof name, "%s%s%s", type->type, counts ? "" : "_",
                 counts ? "" : type->unit);
        put_text(t, name);
    }
}

static void put_call(struct trace *t, const struct report_part *part,
                     const struct report_frames *frames)
{
    put_byte(t, EVENT_ENTER);
    put_number(t, part->member ? (uint64_t)(part->member - t->model->members.at) + 1 : 0);
    put_number(t, 0); /* there is one function */
    if (!t->named)
        put_names(t);
    t->named = true;
    for (size_t i = 0; i < report_known_types(t->model); i++) {
        put_byte(t, CALL_ARGUMENT);
        put_number(t, i);
        put_byte(t, TYPE_NUMBER);
        put_number(t, part->values[i]);
    }
    put_stack(t, frames);
    put_byte(t, CALL_END);
    put_byte(t, EVENT_LEAVE);
    put_number(t, t->calls++);
    put_byte(t, CALL_END);
}

static void put_head(struct trace *t)
{
    const struct report_data *data = t->model->source_count > 0 ? t->model->sources[0].data : NULL;
    const char *program = data && data->processes.count > 0 ? data->processes.at[0].program : NULL;

    fputs("at", t->to);
    put_number(t, VERSION);
    put_number(t, VERSION); /* what calls mean */
    if (program && program[0]) {
        put_text(t, "process.name");
        put_text(t, program);
    }
    put_text(t, "");
}

static bool put_parts(struct trace *t)
{
    struct report_frames frames = { .all = { .count = 0 } };
    struct report_parts parts = report_parts_of(t->model);
    struct report_part part;
    bool good = true;

    while (good && report_parts_next(&parts, &part)) {
        good = part.mark ? report_frames_take_mark(&frames, t->model, REPORT_FRAME_UNSAMPLED)
                         : report_frames_take(&frames, t->model, part.stack);
        if (good)
            put_call(t, &part, &frames);
    }
    free(frames.all.at);
    return good;
}

const char *report_apitrace_calls_refuses(const struct report_model *model)
{
    (void)model;
    return NULL;
}

bool report_apitrace_calls_write(FILE *to, const struct report_model *model)
{
    struct trace t = { .to = to,
                       .model = model,
                       .chunk = malloc(CHUNK),
                       .packed_room = snappy_max_compressed_length(CHUNK),
                       .written =
                           calloc(model->lines.count + REPORT_FRAME_MARKS, sizeof *t.written) };
    bool good;

    t.packed = malloc(t.packed_room);
    good = t.chunk && t.packed && t.written;
    if (good) {
        put_head(&t);
        good = put_parts(&t);
        put_chunk(&t);
    }
    free(t.chunk);
    free(t.packed);
    free(t.written);
    return good;
}
