#include "toolchain/check/stretches.h"

#include <stdlib.h>

#include "util/grow.h"

struct sweep {
    struct stretches *out;
    const struct object *object;
    size_t code; /* the first range that does not end before the next event */
    uint64_t at; /* the end of the finished part */
};

static bool add(struct stretches *s, uint64_t start, uint64_t end, struct check_function function)
{
    if (!array_make_room(&s->list, s->count, &s->capacity, sizeof *s->list))
        return false;
    s->list[s->count++] = (struct stretch){ start, end, function };
    return true;
}

/* Adds the code of [sweep->at, end). */
static bool emit(struct sweep *w, uint64_t end, struct check_function function)
{
    const struct object *o = w->object;

    while (w->at < end) {
        uint64_t start, stop;

        while (w->code < o->code_count && o->code[w->code].end <= w->at)
            w->code++;
        if (w->code == o->code_count || o->code[w->code].start >= end)
            break;
        start = w->at < o->code[w->code].start ? o->code[w->code].start : w->at;
        stop = end < o->code[w->code].end ? end : o->code[w->code].end;
        if (!add(w->out, start, stop, function))
            return false;
        w->at = stop;
    }
    if (w->at < end)
        w->at = end;
    return true;
}

static uint64_t end_of(struct check_function f)
{
    const uint64_t end = f.entry->start + f.entry->size;

    return end < f.entry->start ? UINT64_MAX : end;
}

/* Functions that have begun and not ended lie on a stack: the last one holds. */
static bool run(struct sweep *w, const struct check_function *all, size_t count,
                struct check_function *stack)
{
    size_t depth = 0;

    for (size_t i = 0; i < count; i++) {
        const uint64_t start = all[i].entry->start;

        if (all[i].entry->size == 0)
            continue;
        for (; depth > 0 && end_of(stack[depth - 1]) <= start; depth--)
            if (!emit(w, end_of(stack[depth - 1]), stack[depth - 1]))
                return false;
        if (depth > 0 && !emit(w, start, stack[depth - 1]))
            return false;
        if (w->at < start)
            w->at = start;
        stack[depth++] = all[i];
    }
    for (; depth > 0; depth--)
        if (!emit(w, end_of(stack[depth - 1]), stack[depth - 1]))
            return false;
    return true;
}

bool stretches_make(struct stretches *out, const struct check *c)
{
    size_t count;
    struct check_function *all = check_functions_sorted(c, &count);
    struct check_function *stack = all ? calloc(count, sizeof *stack) : NULL;
    struct sweep w = { .out = out, .object = c->object };
    bool good;

    *out = (struct stretches){ .list = NULL };
    good = count == 0 || (stack && run(&w, all, count, stack));
    free(stack);
    free(all);
    return good;
}

void stretches_free(struct stretches *s)
{
    free(s->list);
    s->list = NULL;
}

/* Reads the row behind the current one. From a descending row on none is used. */
static void look_ahead(struct row_cursor *u)
{
    const struct sframe_entry *e = u->function.entry;
    const bool more = u->next < e->row_count && !e->rows_lost &&
                      sframe_row_read(&u->after, u->function.part, e, u->position) == ROW_READ;

    u->ahead = more && (!u->held || u->after.start >= u->row.start);
}

void row_cursor_open(struct row_cursor *cursor, struct check_function function)
{
    *cursor = (struct row_cursor){ .function = function,
                                   .position = sframe_first_row(function.part, function.entry) };
    look_ahead(cursor);
}

/* Linkage tables: a period is short, and is searched from its beginning. */
static bool seek_repeated(struct row_cursor *u, uint64_t offset, uint32_t repeat, uint64_t *end)
{
    const uint32_t in_entry = (uint32_t)(offset % repeat);
    uint64_t stop = repeat;

    row_cursor_open(u, u->function);
    for (; u->ahead && u->after.start <= in_entry; look_ahead(u)) {
        u->row = u->after;
        u->held = true;
        u->index = u->next++;
        u->position += u->row.size;
        if (u->next > UINT8_MAX)
            break; /* no entry is that long */
    }
    if (u->ahead && u->after.start > in_entry && u->after.start < stop)
        stop = u->after.start;
    *end = offset - in_entry + stop;
    return u->held;
}

bool row_cursor_seek(struct row_cursor *u, uint64_t pc, uint64_t *end)
{
    const struct sframe_entry *e = u->function.entry;
    const uint64_t offset = pc - e->start;
    const uint32_t repeat = sframe_repeat(u->function.part, e);
    bool found;

    if (repeat != 0) {
        found = seek_repeated(u, offset, repeat, end);
    } else {
        for (; u->ahead && u->after.start <= offset; look_ahead(u)) {
            u->row = u->after;
            u->held = true;
            u->index = u->next++;
            u->position += u->row.size;
        }
        found = u->held;
        *end = u->ahead ? u->after.start : e->size;
    }
    *end = e->start + (*end < e->size ? *end : e->size);
    return found;
}
