#include "profiler/protocol/live_write.h"

#include <string.h>

bool sfb_live_write_flush(struct sfb_live_write *w)
{
    const size_t size = w->used;

    w->used = 0;
    return size == 0 || w->put(w->user, w->lines, size);
}

/* Adds w->line to the output. A line that does not fit (its path is too long) is left out. */
static bool put(struct sfb_live_write *w, size_t size)
{
    if (size > sizeof w->lines - w->used && !sfb_live_write_flush(w))
        return false;
    if (size > sizeof w->lines)
        return w->put(w->user, w->line, size);
    memcpy(w->lines + w->used, w->line, size);
    w->used += size;
    return true;
}

static bool begin(void *user, const uint64_t numbers[SFB_LIVE_BEGIN_NUMBERS], const char *path)
{
    struct sfb_live_write *w = user;

    w->pid = numbers[SFB_LIVE_BEGIN_PID];
    return put(w, sfb_live_line_begin(w->line, numbers, path));
}

static bool put_module(struct sfb_live_write *w, const struct sfb_image *image)
{
    struct sfb_image_map_encoder encoder;

    if (sfb_image_map_encoder_init(&encoder, w->map, sizeof w->map, 64, "", NULL, 0) != SFB_OK ||
        sfb_image_map_encoder_put(&encoder, image) != SFB_OK)
        return true;
    return put(w,
               sfb_live_line_module(w->line, w->pid, w->map, sfb_image_map_encoder_end(&encoder)));
}

static bool list(void *user, uint64_t number, uint64_t time, const void *map, size_t size)
{
    struct sfb_live_write *w = user;
    const struct sfb_image_map_room room = { w->text, sizeof w->text, w->prefixes,
                                             SFB_LIVE_WRITE_PREFIXES };
    struct sfb_image_map_decoder decoder;
    struct sfb_image image;

    (void)time;
    if (!put(w, sfb_live_line_list(w->line, w->pid, number)))
        return false;
    if (sfb_image_map_decoder_init(&decoder, map, size, &room, NULL) != SFB_OK)
        return true;
    while (sfb_image_map_decoder_next(&decoder, &image, NULL) == SFB_OK)
        if (!put_module(w, &image))
            return false;
    return true;
}

static bool stack(void *user, const void *cbf, size_t size,
                  const uint64_t numbers[SFB_LIVE_STACK_NUMBERS])
{
    struct sfb_live_write *w = user;

    return put(w, sfb_live_line_stack(w->line, w->pid, cbf, size, numbers));
}

static bool end(void *user, const uint64_t numbers[SFB_LIVE_END_NUMBERS])
{
    struct sfb_live_write *w = user;

    return put(w, sfb_live_line_end(w->line, w->pid, numbers));
}

void sfb_live_write_begin(struct sfb_live_write *out,
                          bool (*put_lines)(void *user, const char *lines, size_t size), void *user,
                          struct sfb_live_visitor *visitor)
{
    out->user = user;
    out->put = put_lines;
    out->used = 0;
    *visitor = (struct sfb_live_visitor){
        .user = out, .begin = begin, .list = list, .stack = stack, .end = end
    };
}
