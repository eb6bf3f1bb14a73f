#include "profiler/report/model/interpreted.h"

#include <string.h>

#include "util/grow.h"

/* @return false: no memory */
static bool add(struct report_unpacked *u, uint32_t location)
{
    if (!array_make_room(&u->locations, u->frame_count, &u->room, sizeof *u->locations))
        return false;
    u->locations[u->frame_count++] = location;
    return true;
}

static bool shows_native(enum report_languages languages, bool has_code)
{
    switch (languages) {
    case REPORT_NATIVE_TOO: return true;
    case REPORT_PYTHON_ONLY: return false;
    case REPORT_MIXED: break;
    }
    return !has_code;
}

static bool is_no_frame(uint32_t location, uint64_t lookup)
{
    return lookup == 0 &&
           (location == (uint32_t)REPORT_OMITTED || location == (uint32_t)REPORT_AWAIT);
}

/* A text between two tasks of asyncio, which stands like a function without a file. */
static bool is_await(const struct report_data *data, uint32_t id)
{
    const uint32_t code = id != 0 ? report_data_code(data, id) : REPORT_NONE;

    return code != REPORT_NONE && data->codes.at[code].file[0] == '\0' &&
           strcmp(data->codes.at[code].name, "[await]") == 0;
}

bool report_interpreted(struct report_unpacked *room, struct report_locator *locator,
                        uint32_t source, const struct report_unpacked *unpacked,
                        const struct report_code_frames *calls, enum report_languages languages,
                        const struct report_unpacked **out)
{
    const struct report_data *data = locator->model->sources[source].data;
    uint32_t frame = 0; /* calls name a frame by its number, and a mark has no number */
    size_t next = 0;

    /* The GIL of such a stack is known, and no function of Python is in it. */
    if (calls->count == 0) {
        *out = unpacked;
        return true;
    }
    room->frame_count = 0;
    for (size_t i = 0; i < unpacked->frame_count; i++) {
        const uint32_t native = unpacked->locations[i];
        const bool is_mark = i >= unpacked->count || is_no_frame(native, unpacked->lookups[i]);
        const size_t first = next;

        while (!is_mark && next < calls->count && calls->frames[next].frame == frame) {
            const struct sfb_recording_code_frame *call = &calls->frames[next++];
            uint32_t location = (uint32_t)REPORT_OMITTED;

            if (is_await(data, call->code))
                location = (uint32_t)REPORT_AWAIT;
            else if (call->code != 0 &&
                     !report_locate_code(locator, source, report_data_code(data, call->code),
                                         call->line, &location))
                return false;
            if (!add(room, location))
                return false;
        }
        frame += !is_mark;
        if ((i >= unpacked->count || shows_native(languages, next > first)) && !add(room, native))
            return false;
    }
    *out = room;
    return true;
}
