#include "profiler/collector/rings/codes.h"

#include <stdlib.h>
#include <string.h>

#include "unwind/runtime/cpython_code.h"
#include "util/grow.h"

enum {
    CODES_MAX = 1 << 17,  /* of a process */
    BYTES_MAX = 64 << 20, /* of its tables: behind that lines are not known */
    ALL_MAX = 1 << 19,    /* of all processes together */
    ALL_BYTES_MAX = 256 << 20
};

const char *sfb_recorder_code_read(struct sfb_shared_code *out, struct sfb_recorder_code_text *text,
                                   const uint8_t *record, size_t size)
{
    const uint8_t *at = record + sizeof *out;

    if (size < sizeof *out)
        return "a function is too short";
    memcpy(out, record, sizeof *out);
    if (out->code == 0 || out->name_size > SFB_SHARED_CODE_NAME ||
        out->file_size > SFB_SHARED_CODE_FILE || out->lines_size > SFB_SHARED_CODE_LINES ||
        (size_t)out->name_size + out->file_size + out->lines_size > size - sizeof *out)
        return "a function's sizes are impossible";
    memcpy(text->name, at, out->name_size);
    text->name[out->name_size] = '\0';
    memcpy(text->file, at + out->name_size, out->file_size);
    text->file[out->file_size] = '\0';
    text->lines = at + out->name_size + out->file_size;
    return NULL;
}

bool sfb_recorder_codes_have_room(struct sfb_recorder_codes *codes,
                                  const struct sfb_recorder_codes_kept *kept)
{
    const bool room = codes->count < CODES_MAX && kept->count < ALL_MAX;

    codes->full |= !room;
    return room;
}

static bool keeps_lines(const struct sfb_recorder_codes *codes,
                        const struct sfb_recorder_codes_kept *kept, size_t size)
{
    return size > 0 && codes->bytes + size <= BYTES_MAX && kept->bytes + size <= ALL_BYTES_MAX;
}

bool sfb_recorder_codes_add(struct sfb_recorder_codes *codes, struct sfb_recorder_codes_kept *kept,
                            const struct sfb_shared_code *code,
                            const struct sfb_recorder_code_text *text, uint32_t id)
{
    struct sfb_recorder_code *new;

    if (!array_make_room(&codes->all, codes->count, &codes->room, sizeof *codes->all))
        return false;
    new = &codes->all[codes->count];
    *new = (struct sfb_recorder_code){ .id = id, .first_line = code->first_line };
    if (keeps_lines(codes, kept, code->lines_size)) {
        new->lines = malloc(code->lines_size);
        if (!new->lines)
            return false;
        memcpy(new->lines, text->lines, code->lines_size);
        new->lines_size = code->lines_size;
        codes->bytes += code->lines_size;
        kept->bytes += code->lines_size;
    }
    codes->count++;
    kept->count++;
    return sfb_recorder_dictionary_add(&codes->by_key, code->code, (uint32_t)codes->count, NULL);
}

bool sfb_recorder_codes_has(const struct sfb_recorder_codes *codes, uint64_t key)
{
    return sfb_recorder_dictionary_find(&codes->by_key, key) != 0;
}

const char *sfb_recorder_codes_frames(struct sfb_recording_code_frame *out,
                                      const struct sfb_recorder_codes *codes, const uint8_t *calls,
                                      size_t count, bool *missing)
{
    *missing = false;
    for (size_t i = 0; i < count; i++) {
        struct sfb_shared_call call;
        const struct sfb_recorder_code *code;
        uint32_t index;

        memcpy(&call, calls + i * sizeof call, sizeof call);
        if (i > 0 && call.frame < out[i - 1].frame)
            return "calls of a stack are out of order";
        index = sfb_recorder_dictionary_find(&codes->by_key, call.code);
        code = index > 0 ? &codes->all[index - 1] : NULL;
        *missing |= call.code != 0 && !code && !codes->full;
        out[i] = (struct sfb_recording_code_frame){ .frame = call.frame };
        if (!code)
            continue;
        out[i].code = code->id;
        if (call.instruction == SFB_CPYTHON_BEFORE)
            out[i].line = code->first_line;
        else if (code->lines)
            out[i].line =
                sfb_cpython_line(code->lines, code->lines_size, code->first_line, call.instruction);
    }
    return NULL;
}

void sfb_recorder_codes_free(struct sfb_recorder_codes *codes, struct sfb_recorder_codes_kept *kept)
{
    kept->count -= codes->count;
    kept->bytes -= codes->bytes;
    for (size_t i = 0; i < codes->count; i++)
        free(codes->all[i].lines);
    free(codes->all);
    sfb_recorder_dictionary_free(&codes->by_key);
    *codes = (struct sfb_recorder_codes){ .count = 0 };
}
