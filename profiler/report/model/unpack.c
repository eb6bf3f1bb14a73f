#include "profiler/report/model/unpack.h"

#include <stdlib.h>

#include "cbf/common.h"
#include "util/grow.h"

/* Deeper ones are cut off at their outer end. */
enum { FRAMES_MAX = 1 << 16 };

/* Makes room for a frame more. @return false: no memory */
static bool make_room(struct report_unpacked *u)
{
    size_t lookup_room = u->room;

    return array_make_room(&u->lookups, u->count, &lookup_room, sizeof *u->lookups) &&
           array_make_room(&u->locations, u->count, &u->room, sizeof *u->locations);
}

/* Locates frames from one on. @return false: no memory */
static bool locate(struct report_unpacked *u, struct report_locator *l, size_t from, size_t end)
{
    for (size_t i = from; i < end; i++)
        if (!report_locate_recent(l, u->source, u->process, u->list, u->lookups[i],
                                  &u->locations[i]) &&
            !report_locate(l, u->source, u->process, u->list, u->lookups[i], &u->locations[i]))
            return false;
    return true;
}

/* A mark has no address. @return false: no memory */
static bool put_mark(struct report_unpacked *u, struct report_locator *l, enum report_mark mark)
{
    if (!make_room(u) || !locate(u, l, u->marks, u->count))
        return false;
    u->lookups[u->count] = 0;
    u->locations[u->count++] = (uint32_t)mark;
    u->marks = u->count;
    return true;
}

/*
 * A return address is behind the call that it is of. But one before a pc is of a signal's trampoline: nothing was
 * called there, and the byte before it belongs to some other function.
 *
 * @return false: no memory
 */
static bool decode(struct report_unpacked *u, struct report_locator *l,
                   const struct report_cbf *cbf, bool *truncated)
{
    static const struct sfb_cbf_decoder_options options = { .size = sizeof options,
                                                            .flags = SFB_CBF_EXPAND,
                                                            .max_frames = FRAMES_MAX };
    struct sfb_cbf_decoder decoder;
    struct sfb_cbf_item item;
    const struct sfb_cbf_item *next;
    uint64_t behind_call = 0; /* 1: the frame before is a return address */
    bool async = true; /* the frame before is one, or this is the first: of a suspended task */
    enum sfb_status status = sfb_cbf_decoder_init(&decoder, cbf->bytes, cbf->size, &options, NULL);

    while (status == SFB_OK) {
        next = &decoder.item;
        if (cbf_next_common(&decoder) == 0) {
            status = sfb_cbf_decoder_next(&decoder, &item, NULL);
            next = &item;
            if (status != SFB_OK)
                break;
        }
        if (next->kind == SFB_FRAME_PC && behind_call)
            u->lookups[u->count - 1]++;
        behind_call = next->kind == SFB_FRAME_RA && next->value > 0;
        if (next->kind == SFB_FRAME_OMIT) {
            if (!put_mark(u, l, REPORT_OMITTED))
                return false;
        } else {
            if (next->kind == SFB_FRAME_ASYNC && !async && !put_mark(u, l, REPORT_AWAIT))
                return false;
            if (u->count == u->room && !make_room(u))
                return false;
            u->lookups[u->count++] = next->value - behind_call;
        }
        async = next->kind == SFB_FRAME_ASYNC;
    }
    *truncated = status != SFB_END || sfb_cbf_decoder_truncated(&decoder);
    return make_room(u);
}

/* @return how many outer frames both have */
static size_t common(const struct report_unpacked *now, const struct report_unpacked *before)
{
    const size_t mine = now->count - now->marks, others = before->count - before->marks,
                 most = mine < others ? mine : others;
    const uint64_t *a, *b;
    size_t same = 0;

    if (most == 0 || now->source != before->source || now->process != before->process ||
        now->list != before->list)
        return 0;
    a = now->lookups + now->count;
    b = before->lookups + before->count;
    while (same < most && *--a == *--b)
        same++;
    return same;
}

bool report_unpack(struct report_unpacker *unpacker, struct report_locator *locator,
                   uint32_t source, const struct report_cbf *cbf, uint32_t list,
                   const struct report_unpacked **out, bool *truncated)
{
    struct report_unpacked *now = &unpacker->now, *before = &unpacker->before, spare = *before;
    size_t same;

    *before = *now;
    *now = spare;
    now->count = now->marks = 0;
    now->source = source;
    now->process = cbf->process;
    now->list = list;
    if (!decode(now, locator, cbf, truncated))
        return false;
    same = common(now, before);
    if (!locate(now, locator, now->marks, now->count - same))
        return false;
    if (same > 0)
        memcpy(now->locations + now->count - same, before->locations + before->count - same,
               same * sizeof *now->locations);
    now->frame_count = now->count;
    if (*truncated)
        now->locations[now->frame_count++] = (uint32_t)REPORT_TRUNCATED;
    *out = now;
    return true;
}

void report_unpacked_free(struct report_unpacked *u)
{
    free(u->lookups);
    free(u->locations);
    *u = (struct report_unpacked){ .count = 0 };
}

void report_unpacker_free(struct report_unpacker *unpacker)
{
    report_unpacked_free(&unpacker->now);
    report_unpacked_free(&unpacker->before);
}
