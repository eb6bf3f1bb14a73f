#include "remote/python_place.h"

#include <stdlib.h>
#include <string.h>

/* Runs of a thread that no C frame has: each is looked for in all frames, and none behind them. */
enum { STRAY_MAX = 64 };

static bool has(const struct sfb_remote_thread *t, size_t frame, uint64_t anchor)
{
    return t->frames[frame].sp <= anchor && anchor < t->frames[frame + 1].sp;
}

/*
 * @param frame  in: of the run before; out: the C frame that has the anchor
 * @return false: no frame has it
 */
static bool find_frame(const struct sfb_remote_thread *t, uint64_t anchor, size_t *frame,
                       unsigned *stray)
{
    if (anchor == 0 || *stray > STRAY_MAX)
        return false;
    for (size_t i = *frame; i + 1 < t->frame_count; i++)
        if (has(t, i, anchor)) {
            *frame = i;
            return true;
        }
    if (++*stray > STRAY_MAX)
        return false;
    for (size_t i = 0; i < *frame; i++)
        if (has(t, i, anchor)) {
            *frame = i;
            return true;
        }
    return false;
}

/* A frame that has its place. */
struct placed {
    size_t frame;                           /* of the thread */
    const struct remote_python_frame *read; /* in the order of reading */
};

static int by_place(const void *a, const void *b)
{
    const struct placed *x = a, *y = b;

    if (x->frame != y->frame)
        return x->frame < y->frame ? -1 : 1;
    return x->read < y->read ? -1 : x->read > y->read;
}

/* @return how many have a place */
static size_t find_places(struct placed *places, struct sfb_remote_thread *t,
                          const struct remote_python_stack *s)
{
    size_t count = 0, frame = 0;
    unsigned stray = 0;
    bool found = true;

    for (size_t i = 0; i < s->count; i++) {
        const struct remote_python_frame *f = &s->frames[i];

        if (f->torn)
            found = true; /* where the certain ones end */
        else if (i == 0 || s->frames[i - 1].torn || f->anchor != s->frames[i - 1].anchor)
            found = find_frame(t, f->anchor, &frame, &stray);
        if (found)
            places[count++] = (struct placed){ frame, f };
        else
            t->python_unplaced++;
    }
    return count;
}

void remote_python_place(struct sfb_remote_thread *out, const struct remote_python_stack *s)
{
    struct placed *places = s->count > 0 ? calloc(s->count, sizeof *places) : NULL;
    size_t count = places ? find_places(places, out, s) : 0;
    char *texts;

    if (count > 0)
        out->python = malloc(count * sizeof *out->python + s->text_size);
    if (!out->python)
        count = 0;
    texts = (char *)(out->python + count);
    if (count > 0) {
        qsort(places, count, sizeof *places, by_place);
        memcpy(texts, s->texts, s->text_size);
    }
    for (size_t i = 0; i < count; i++) {
        const struct remote_python_frame *f = places[i].read;

        out->python[i] = (struct sfb_remote_python){ .frame = places[i].frame, .line = f->line };
        if (!f->torn) {
            out->python[i].name = texts + f->name;
            out->python[i].file = texts + f->file;
        }
    }
    out->python_count = count;
    out->python_gil = (enum sfb_remote_gil)s->gil;
    free(places);
}
