#include "contrib/lws/lws_note.h"

#include <string.h>

/* A reader of bits. */
struct bits {
    const uint8_t *bytes;
    size_t count, at;
    bool stray;        /* a bit follows each field */
    bool wide;         /* a number has needless bits: no encoder writes that */
    const char *fault; /* sticky: later fields are 0 */
};

static bool next_bit(struct bits *b)
{
    const bool bit = (b->bytes[b->at / 8] >> (7 - b->at % 8) & 1) != 0;

    b->at++;
    return bit;
}

static uint64_t read_field(struct bits *b, unsigned width)
{
    uint64_t value = 0;

    if (b->fault)
        return 0;
    if (b->count - b->at < width + (b->stray ? 1 : 0)) {
        b->fault = "a field ends past its bytes";
        return 0;
    }
    for (unsigned i = 0; i < width; i++)
        value = value << 1 | next_bit(b);
    /*
     * Old versions of the library shifted an int: they wrote a 1 behind addresses that they could
     * not encode.
     */
    if (b->stray && next_bit(b))
        b->fault = width > 31 ? "an address above 31 bits, which this libwebsockets could not write"
                              : "a bit behind a field is not 0";
    return value;
}

static uint64_t read_number(struct bits *b)
{
    const unsigned width = (unsigned)read_field(b, 6);
    const uint64_t value = read_field(b, width);

    b->wide |= width == 0 || (width > 1 && value >> (width - 1) == 0);
    return value;
}

static uint64_t read_address(struct bits *b, const uint64_t *frames, unsigned depth)
{
    uint64_t from, distance, value;
    unsigned back;
    bool minus, wraps;

    if (read_field(b, 1) == 0)
        return read_number(b);
    back = (unsigned)read_field(b, 3) + 1;
    minus = read_field(b, 1) != 0;
    distance = read_number(b);
    if (b->fault)
        return 0;
    if (back > depth) {
        b->fault = "a distance from an address that is not there";
        return 0;
    }
    from = frames[depth - back];
    wraps = minus ? __builtin_sub_overflow(from, distance, &value)
                  : __builtin_add_overflow(from, distance, &value);
    if (wraps)
        b->fault = "an address that is not of 64 bits";
    return value;
}

static const char *read_one(struct lws_note *out, const uint8_t *bytes, size_t size,
                            enum lws_dialect dialect)
{
    struct bits b = { .bytes = bytes, .count = 8 * size, .stray = dialect == LWS_LIBRARY };
    struct lws_note note = { .dialect = dialect };

    note.depth = (unsigned)read_field(&b, 5);
    for (unsigned i = 0; i < note.depth && !b.fault; i++)
        note.frames[i] = read_address(&b, note.frames, i);
    note.size = read_number(&b);
    if (!b.fault && b.count - b.at >= 8)
        b.fault = "bytes behind the size";
    while (!b.fault && b.at < b.count)
        if (next_bit(&b))
            b.fault = "bits behind the size";
    note.wide = b.wide;
    if (!b.fault)
        *out = note;
    return b.fault;
}

/*
 * For random notes both dialects fit in a few of a thousand: prefer one that an encoder would
 * write, then the library's.
 */
static const char *read_any(struct lws_note *out, const uint8_t *bytes, size_t size)
{
    struct lws_note readme;
    const char *library = read_one(out, bytes, size, LWS_LIBRARY);

    if ((!library && !out->wide) || read_one(&readme, bytes, size, LWS_README) ||
        (!library && readme.wide))
        return library;
    *out = readme;
    return NULL;
}

const char *lws_note_read(struct lws_note *out, const uint8_t *bytes, size_t size,
                          enum lws_dialect dialect)
{
    if (size < 3)
        return "too short for a note";
    if ((size_t)(bytes[size - 2] << 8 | bytes[size - 1]) != size)
        return "the length at its end is not that of its bytes";
    return dialect == LWS_ANY ? read_any(out, bytes, size - 2)
                              : read_one(out, bytes, size - 2, dialect);
}

bool lws_dialect_parse(const char *name, enum lws_dialect *out)
{
    if (strcmp(name, "library") != 0 && strcmp(name, "readme") != 0)
        return false;
    *out = strcmp(name, "library") == 0 ? LWS_LIBRARY : LWS_README;
    return true;
}
