#include "contrib/apitrace/trace_values.h"

#include <stdlib.h>

enum {
    DEPTH_MOST = 64,    /* values within values */
    IDS_MOST = 1 << 20, /* declarations of one kind */
    ENUMS_OF_MANY = 3   /* the version from which an enum has all its names */
};

enum trace_type {
    TYPE_NULL,
    TYPE_FALSE,
    TYPE_TRUE,
    TYPE_NEGATIVE,
    TYPE_NUMBER,
    TYPE_FLOAT,
    TYPE_DOUBLE,
    TYPE_STRING,
    TYPE_BLOB,
    TYPE_ENUM,
    TYPE_BITMASK,
    TYPE_ARRAY,
    TYPE_STRUCT,
    TYPE_POINTER,
    TYPE_TWO, /* for people, and for machines */
    TYPE_WIDE_STRING
};

bool trace_ids_take(struct trace_ids *ids, struct trace_bytes *b, uint32_t *out)
{
    const uint64_t id = trace_number(b);
    bool found = true;

    *out = 0;
    if (b->why)
        return false;
    if (!report_index_find(&ids->ids, id, 0, ids->count, out, &found))
        return trace_bytes_fail(b, "no memory");
    if (!found && ids->count++ >= IDS_MOST)
        return trace_bytes_fail(b, "more than a million declarations");
    return !found;
}

/* A number with its sign, as a value has it. */
static void skip_signed(struct trace_bytes *b)
{
    const uint8_t type = trace_byte(b);

    if (type != TYPE_NEGATIVE && type != TYPE_NUMBER)
        trace_bytes_fail(b, "a number of no known sign");
    trace_number(b);
}

static void skip_enum(struct trace_values *v, struct trace_bytes *b)
{
    const bool many = v->version >= ENUMS_OF_MANY;
    uint32_t number;
    uint64_t names;

    if (trace_ids_take(&v->enums, b, &number)) {
        names = many ? trace_number(b) : 1;
        for (uint64_t i = 0; i < names && !b->why; i++) {
            trace_skip_string(b);
            skip_signed(b);
        }
    }
    if (many)
        skip_signed(b);
}

static void skip_bitmask(struct trace_values *v, struct trace_bytes *b)
{
    uint32_t number;
    uint64_t names;

    if (trace_ids_take(&v->bitmasks, b, &number)) {
        names = trace_number(b);
        for (uint64_t i = 0; i < names && !b->why; i++) {
            trace_skip_string(b);
            trace_number(b);
        }
    }
    trace_number(b);
}

static void skip_wide_string(struct trace_bytes *b)
{
    const uint64_t letters = trace_number(b);

    for (uint64_t i = 0; i < letters && !b->why; i++)
        trace_number(b);
}

/* @return how many values follow: its members */
static uint64_t take_struct(struct trace_values *v, struct trace_bytes *b)
{
    uint64_t *members;
    uint32_t number;

    if (!trace_ids_take(&v->structs, b, &number))
        return b->why ? 0 : v->members.at[number];
    trace_skip_string(b);
    members = REPORT_NEXT(v->members);
    if (!members) {
        trace_bytes_fail(b, "no memory");
        return 0;
    }
    *members = trace_number(b);
    for (uint64_t i = 0; i < *members && !b->why; i++)
        trace_skip_string(b);
    return *members;
}

/* @return how many values are within it: they follow */
static uint64_t take_value(struct trace_values *v, struct trace_bytes *b)
{
    switch (trace_byte(b)) {
    case TYPE_NULL:
    case TYPE_FALSE:
    case TYPE_TRUE: return 0;
    case TYPE_NEGATIVE:
    case TYPE_NUMBER:
    case TYPE_POINTER: trace_number(b); return 0;
    case TYPE_FLOAT: trace_skip(b, sizeof(float)); return 0;
    case TYPE_DOUBLE: trace_skip(b, sizeof(double)); return 0;
    case TYPE_STRING:
    case TYPE_BLOB: trace_skip_string(b); return 0;
    case TYPE_ENUM: skip_enum(v, b); return 0;
    case TYPE_BITMASK: skip_bitmask(v, b); return 0;
    case TYPE_ARRAY: return trace_number(b);
    case TYPE_STRUCT: return take_struct(v, b);
    case TYPE_TWO: return 2;
    case TYPE_WIDE_STRING: skip_wide_string(b); return 0;
    default: trace_bytes_fail(b, "a value of no known type"); return 0;
    }
}

void trace_value_skip(struct trace_values *v, struct trace_bytes *b)
{
    uint64_t left[DEPTH_MOST] = { 1 }; /* values to come, by depth */
    size_t depth = 1;

    while (depth > 0 && !b->why) {
        uint64_t within;

        if (left[depth - 1] == 0) {
            depth--;
            continue;
        }
        left[depth - 1]--;
        within = take_value(v, b);
        if (within == 0)
            continue;
        if (depth == DEPTH_MOST) {
            trace_bytes_fail(b, "values within values, more than 64 deep");
            break;
        }
        left[depth++] = within;
    }
}

void trace_values_free(struct trace_values *v)
{
    report_index_free(&v->structs.ids);
    report_index_free(&v->enums.ids);
    report_index_free(&v->bitmasks.ids);
    free(v->members.at);
}
