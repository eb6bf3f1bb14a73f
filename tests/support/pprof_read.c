#include "support/pprof_read.h"

#include <stdlib.h>
#include <string.h>
#include <zlib.h>

/* --- Wire -------------------------------------------------------------------------------------- */

struct wire {
    const uint8_t *at, *end;
    struct pprof_file *file;
};

/* A field of a message. */
struct field {
    unsigned number;
    uint64_t value;
    struct wire bytes;
};

static bool fail(struct wire *w, const char *fault)
{
    if (!w->file->fault)
        w->file->fault = fault;
    w->at = w->end;
    return false;
}

static uint64_t varint(struct wire *w)
{
    uint64_t value = 0;

    for (unsigned shift = 0; w->at < w->end && shift < 70; shift += 7) {
        const uint8_t byte = *w->at++;

        if (shift < 64)
            value |= (uint64_t)(byte & 0x7f) << shift;
        if (byte < 0x80)
            return value;
    }
    fail(w, "a number has no end");
    return 0;
}

/* @return false: there are no more, or it is no field */
static bool next(struct wire *w, struct field *out)
{
    uint64_t tag, size;

    if (w->at == w->end || w->file->fault)
        return false;
    tag = varint(w);
    *out = (struct field){ .number = (unsigned)(tag >> 3), .bytes = { w->end, w->end, w->file } };
    if ((tag & 7) == 0) {
        out->value = varint(w);
        return !w->file->fault;
    }
    if ((tag & 7) != 2)
        return fail(w, "a field is neither a number nor bytes");
    size = varint(w);
    if (w->file->fault || size > (uint64_t)(w->end - w->at))
        return fail(w, "bytes have no end");
    out->bytes = (struct wire){ w->at, w->at + size, w->file };
    w->at += size;
    return true;
}

/* Room for another element of an array that doubles. */
static void *more(void *array, size_t *count, size_t size)
{
    char *at = array;

    if ((*count & (*count - 1)) == 0 && !(at = realloc(array, 2 * (*count + 1) * size)))
        abort();
    memset(at + (*count)++ * size, 0, size);
    return at;
}

#define MORE(array, count) ((array) = more((array), &(count), sizeof *(array)), &(array)[(count)-1])

/* --- Strings ----------------------------------------------------------------------------------- */

static bool is_utf8(const uint8_t *at, size_t size)
{
    for (size_t i = 0; i < size;) {
        const uint8_t b = at[i++];
        const unsigned more_bytes = b < 0x80                ? 0
                                    : b >= 0xc2 && b < 0xe0 ? 1
                                    : b >= 0xe0 && b < 0xf0 ? 2
                                                            : 3;

        if (b >= 0x80 && (b < 0xc2 || b > 0xf4))
            return false;
        for (unsigned k = 0; k < more_bytes; k++, i++) {
            const uint8_t low = k > 0 ? 0x80 : b == 0xe0 ? 0xa0 : b == 0xf0 ? 0x90 : 0x80;
            const uint8_t high = k > 0 ? 0xbf : b == 0xed ? 0x9f : b == 0xf4 ? 0x8f : 0xbf;

            if (i >= size || at[i] < low || at[i] > high)
                return false;
        }
    }
    return true;
}

/* Control bytes are no part of a name. */
static bool is_text(const uint8_t *at, size_t size)
{
    for (size_t i = 0; i < size; i++)
        if (at[i] < 0x20 || at[i] == 0x7f)
            return false;
    return is_utf8(at, size);
}

static void read_string(struct pprof_file *f, struct wire *w)
{
    char **string = MORE(f->strings, f->string_count);
    const size_t size = (size_t)(w->end - w->at);

    if (!is_text(w->at, size))
        fail(w, "a string is no text");
    *string = strndup((const char *)w->at, size);
}

static const char *string_at(struct pprof_file *f, uint64_t index)
{
    if (index < f->string_count)
        return f->strings[index];
    if (!f->fault)
        f->fault = "a string is not in the table";
    return "";
}

/* --- Messages ---------------------------------------------------------------------------------- */

static void read_type(struct wire *w, const char *out[2])
{
    struct field field;

    out[0] = out[1] = "";
    while (next(w, &field))
        if (field.number == 1 || field.number == 2)
            out[field.number - 1] = string_at(w->file, field.value);
}

static void read_label(struct pprof_sample *s, struct wire *w)
{
    struct pprof_label *label = &s->labels[s->label_count];
    struct field field;

    if (s->label_count++ == PPROF_LABELS) {
        s->label_count--;
        fail(w, "too many labels");
        return;
    }
    *label = (struct pprof_label){ .key = "" };
    while (next(w, &field)) {
        if (field.number == 1)
            label->key = string_at(w->file, field.value);
        else if (field.number == 2)
            label->text = string_at(w->file, field.value);
        else if (field.number == 3)
            label->number = (int64_t)field.value;
    }
    if (!label->key[0])
        fail(w, "a label has no key");
}

static void read_sample(struct pprof_file *f, struct wire *w)
{
    struct pprof_sample *s = MORE(f->samples, f->sample_count);
    struct field field;
    size_t values = 0;

    s->at = f->stack_count;
    while (next(w, &field)) {
        if (field.number == 1)
            while (field.bytes.at < field.bytes.end)
                *MORE(f->stack, f->stack_count) = varint(&field.bytes);
        else if (field.number == 2)
            while (field.bytes.at < field.bytes.end && values < PPROF_VALUES)
                s->values[values++] = (int64_t)varint(&field.bytes);
        else if (field.number == 3)
            read_label(s, &field.bytes);
    }
    s->count = f->stack_count - s->at;
    if (values != f->type_count)
        fail(w, "a sample has other values than there are types");
    if (s->count == 0)
        fail(w, "a sample has no location");
}

static void expect_id(struct wire *w, uint64_t id, size_t want)
{
    if (id != want)
        fail(w, "ids do not ascend from 1");
}

static void read_mapping(struct pprof_file *f, struct wire *w)
{
    struct pprof_mapping *m = MORE(f->mappings, f->mapping_count);
    struct field field;
    uint64_t id = 0;

    m->file = m->build_id = "";
    while (next(w, &field))
        switch (field.number) {
        case 1: id = field.value; break;
        case 2: m->start = field.value; break;
        case 3: m->limit = field.value; break;
        case 4: m->offset = field.value; break;
        case 5: m->file = string_at(f, field.value); break;
        case 6: m->build_id = string_at(f, field.value); break;
        case 7: m->has_functions = field.value; break;
        case 8: m->has_files = field.value; break;
        case 9: m->has_lines = field.value; break;
        case 10: m->has_inlines = field.value; break;
        default: fail(w, "a mapping has an unknown field");
        }
    expect_id(w, id, f->mapping_count);
}

static void read_line(struct pprof_file *f, struct wire *w)
{
    struct pprof_line *l = MORE(f->lines, f->line_count);
    struct field field;

    while (next(w, &field)) {
        if (field.number == 1)
            l->function = field.value;
        else if (field.number == 2)
            l->line = (int64_t)field.value;
        else if (field.number == 3)
            l->column = (int64_t)field.value;
        else
            fail(w, "a line has an unknown field");
    }
}

static void read_location(struct pprof_file *f, struct wire *w)
{
    struct pprof_location *l = MORE(f->locations, f->location_count);
    struct field field;
    uint64_t id = 0;

    l->at = f->line_count;
    while (next(w, &field))
        switch (field.number) {
        case 1: id = field.value; break;
        case 2: l->mapping = field.value; break;
        case 3: l->address = field.value; break;
        case 4: read_line(f, &field.bytes); break;
        default: fail(w, "a location has an unknown field");
        }
    l->count = f->line_count - l->at;
    expect_id(w, id, f->location_count);
}

static void read_function(struct pprof_file *f, struct wire *w)
{
    struct pprof_function *function = MORE(f->functions, f->function_count);
    struct field field;
    uint64_t id = 0;

    function->name = function->system_name = function->file = "";
    while (next(w, &field))
        switch (field.number) {
        case 1: id = field.value; break;
        case 2: function->name = string_at(f, field.value); break;
        case 3: function->system_name = string_at(f, field.value); break;
        case 4: function->file = string_at(f, field.value); break;
        default: fail(w, "a function has an unknown field");
        }
    expect_id(w, id, f->function_count);
    if (!function->name[0])
        fail(w, "a function has no name");
}

static void read_field(struct pprof_file *f, struct wire *w, struct field *field)
{
    switch (field->number) {
    case 1:
        if (f->type_count == PPROF_VALUES)
            fail(w, "too many types");
        else
            read_type(&field->bytes, f->types[f->type_count++]);
        break;
    case 2: read_sample(f, &field->bytes); break;
    case 3: read_mapping(f, &field->bytes); break;
    case 4: read_location(f, &field->bytes); break;
    case 5: read_function(f, &field->bytes); break;
    case 6: break;
    case 9: f->time = (int64_t)field->value; break;
    case 10: f->duration = (int64_t)field->value; break;
    case 11: read_type(&field->bytes, f->period_type); break;
    case 12: f->period = (int64_t)field->value; break;
    case 13:
        string_at(f, field->value);
        f->comment_count++;
        break;
    case 14: f->default_type = string_at(f, field->value); break;
    default: fail(w, "an unknown field");
    }
}

/* --- References -------------------------------------------------------------------------------- */

static const char *check(const struct pprof_file *f)
{
    if (f->string_count == 0 || f->strings[0][0])
        return "the first string is not empty";
    for (size_t i = 0; i < f->stack_count; i++)
        if (f->stack[i] == 0 || f->stack[i] > f->location_count)
            return "a sample's location is not there";
    for (size_t i = 0; i < f->location_count; i++) {
        const struct pprof_location *l = &f->locations[i];

        if (l->mapping > f->mapping_count)
            return "a location's mapping is not there";
        if (l->mapping == 0 && l->count == 0)
            return "a location has neither a mapping nor lines";
        if (l->mapping > 0 && (l->address < f->mappings[l->mapping - 1].start ||
                               l->address >= f->mappings[l->mapping - 1].limit))
            return "a location is not in its mapping";
    }
    for (size_t i = 0; i < f->line_count; i++)
        if (f->lines[i].function == 0 || f->lines[i].function > f->function_count)
            return "a line's function is not there";
    return NULL;
}

/* --- The file ---------------------------------------------------------------------------------- */

static bool unpack(struct pprof_file *out, const void *gzip, size_t size)
{
    z_stream z = { .next_in = (Bytef *)(uintptr_t)gzip, .avail_in = (uInt)size };
    size_t room = 1 << 16;
    int status;

    out->bytes = malloc(room);
    if (!out->bytes || inflateInit2(&z, 15 + 16) != Z_OK)
        abort();
    do {
        if (out->size == room) {
            room *= 2;
            out->bytes = realloc(out->bytes, room);
            if (!out->bytes)
                abort();
        }
        z.next_out = out->bytes + out->size;
        z.avail_out = (uInt)(room - out->size);
        status = inflate(&z, Z_NO_FLUSH);
        out->size = room - z.avail_out;
    } while (status == Z_OK);
    inflateEnd(&z);
    return status == Z_STREAM_END && z.avail_in == 0;
}

bool pprof_read(struct pprof_file *out, const void *gzip, size_t size)
{
    struct wire w;
    struct field field;

    *out = (struct pprof_file){ .default_type = "" };
    if (!unpack(out, gzip, size)) {
        out->fault = "not one gzip file";
        return false;
    }
    /* Strings stand behind those who use them. */
    w = (struct wire){ out->bytes, out->bytes + out->size, out };
    while (next(&w, &field))
        if (field.number == 6)
            read_string(out, &field.bytes);
    w = (struct wire){ out->bytes, out->bytes + out->size, out };
    while (next(&w, &field))
        read_field(out, &w, &field);
    if (!out->fault)
        out->fault = check(out);
    return out->fault == NULL;
}

const struct pprof_label *pprof_label_of(const struct pprof_sample *sample, const char *key)
{
    for (size_t i = 0; i < sample->label_count; i++)
        if (strcmp(sample->labels[i].key, key) == 0)
            return &sample->labels[i];
    return NULL;
}

void pprof_free(struct pprof_file *f)
{
    for (size_t i = 0; i < f->string_count; i++)
        free(f->strings[i]);
    free(f->bytes);
    free(f->strings);
    free(f->samples);
    free(f->stack);
    free(f->mappings);
    free(f->locations);
    free(f->lines);
    free(f->functions);
    *f = (struct pprof_file){ .bytes = NULL };
}
