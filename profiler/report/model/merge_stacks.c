#include "profiler/report/model/merge_stacks.h"

#include <stdlib.h>
#include <string.h>

#include "sfb/cbf.h"

enum { FRAMES_MOST = 1 << 20 };

bool merge_stacks_begin(struct merge_stacks *out, struct report_merge *merge,
                        const struct report_data *data, const uint32_t *processes)
{
    *out = (struct merge_stacks){ .merge = merge,
                                  .data = data,
                                  .processes = processes,
                                  .process = REPORT_NONE,
                                  .list = REPORT_NONE,
                                  .made = calloc(data->processes.count + 1, sizeof *out->made),
                                  .asked = calloc(data->processes.count + 1, sizeof *out->asked) };
    if (data->code_frames.count > 0)
        out->calls = malloc(SFB_RECORDING_CODE_FRAMES_MAX * sizeof *out->calls);
    return out->made && out->asked && (out->calls || data->code_frames.count == 0);
}

void merge_stacks_free(struct merge_stacks *s)
{
    merge_view_close(&s->view);
    for (size_t i = 0; s->made && i < s->data->processes.count; i++)
        object_perf_map_free(&s->made[i]);
    report_index_free(&s->stacks);
    free(s->ids.at);
    free(s->made);
    free(s->asked);
    free(s->calls);
}

/* --- Addresses --------------------------------------------------------------------------------- */

static const struct object_perf_map *made_of(struct merge_stacks *s, uint32_t process)
{
    const struct report_data *d = s->data;

    if (s->asked[process])
        return &s->made[process];
    s->asked[process] = true;
    for (size_t i = d->files.count; i-- > 0;) {
        char *text = d->files.at[i].process == process ? malloc(d->files.at[i].size + 1) : NULL;

        if (!text)
            continue;
        memcpy(text, d->files.at[i].bytes, d->files.at[i].size + 1);
        if (!object_perf_map_read(&s->made[process], text, d->files.at[i].size)) {
            object_perf_map_free(&s->made[process]);
            s->made[process] = (struct object_perf_map){ .text = NULL };
        }
        break;
    }
    return &s->made[process];
}

/* Looks at addresses as a process had them with a list. @return false: no memory */
static bool use(struct merge_stacks *s, uint32_t process, uint32_t list)
{
    struct report_merge *m = s->merge;

    if (s->process == process && s->list == list)
        return true;
    merge_view_close(&s->view);
    s->process = process;
    s->list = list;
    return merge_view_open(&s->view, &m->processes.at[s->processes[process]].places,
                           list == REPORT_NONE ? NULL : &s->data->lists.at[list],
                           made_of(s, process)) ||
           report_merge_fail(m, SFB_NO_RESOURCE);
}

/*
 * A return address is behind its call; one before a pc is of a signal's trampoline, which was not called.
 *
 * @param called  whether it is behind a call
 * @return false: the encoder is full, or no memory
 */
static bool put_item(struct merge_stacks *s, struct sfb_cbf_encoder *encoder,
                     const struct sfb_cbf_item *item, bool called)
{
    struct report_merge *m = s->merge;
    uint64_t value = item->value;

    if (item->kind != SFB_FRAME_OMIT &&
        !merge_places_find(&m->processes.at[s->processes[s->process]].places, &s->view, item->value,
                           item->value - called, &value))
        return report_merge_fail(m, SFB_NO_RESOURCE);
    for (uint64_t i = 0; i < item->count; i++)
        if (sfb_cbf_encoder_put(encoder, item->kind, value) != SFB_OK)
            return false;
    return true;
}

/* --- Calls of an interpreter's functions -------------------------------------------------------- */

/* Functions of one name, file and line are one in a merged process. @return false: the merge failed */
static bool put_code(struct merge_stacks *s, const struct report_script *code, uint32_t *id)
{
    struct report_merge *m = s->merge;
    const uint32_t process = s->processes[s->process];
    uint32_t name, file, at;
    bool found;

    if (!report_strings_add(&m->texts, code->name, &name) ||
        !report_strings_add(&m->texts, code->file, &file) ||
        !report_index_find(&m->code_index, (uint64_t)process << 32 | name,
                           (uint64_t)file << 32 | code->first_line, m->code_count, &at, &found))
        return report_merge_fail(m, SFB_NO_RESOURCE);
    *id = at + 1;
    if (found)
        return true;
    m->code_count++;
    const struct sfb_recording_code event = { .id = *id,
                                              .process = process + 1,
                                              .first_line = code->first_line,
                                              .name = code->name,
                                              .file = code->file };

    return report_merge_check(m, sfb_recording_put_code(m->writer, &event));
}

/* A function that the input lost is one without a name, as sfb report shows it. */
static bool put_calls(struct merge_stacks *s, const struct report_code_frames *calls)
{
    static const struct report_script unknown = { .name = (char *)(uintptr_t) "[unknown]",
                                                  .file = (char *)(uintptr_t) "" };

    for (size_t i = 0; i < calls->count; i++) {
        struct sfb_recording_code_frame *call = &s->calls[i];
        uint32_t code;

        *call = calls->frames[i];
        if (call->code == 0)
            continue;
        code = report_data_code(s->data, call->code);
        if (!put_code(s, code == REPORT_NONE ? &unknown : &s->data->codes.at[code], &call->code))
            return false;
    }
    return true;
}

/* --- Stacks ------------------------------------------------------------------------------------ */

static bool put_stack(struct merge_stacks *s, const struct report_cbf *cbf, size_t size,
                      uint32_t *id)
{
    struct report_merge *m = s->merge;
    const struct report_code_frames *calls = report_data_code_frames(s->data, cbf->id);
    const uint32_t process = s->processes[s->process] + 1;

    if (!calls)
        return report_merge_check(m, sfb_recording_put_stack(m->writer, id, process, m->cbf, size));
    const struct sfb_recording_code_frames code = { .frames = s->calls,
                                                    .count = calls->count,
                                                    .gil = calls->gil };

    return put_calls(s, calls) &&
           report_merge_check(
               m, sfb_recording_put_stack_of_code(m->writer, id, process, m->cbf, size, &code));
}

/* @return false after a failure; a stack that is damaged is cut off there */
static bool convert(struct merge_stacks *s, const struct report_cbf *cbf, uint32_t *id)
{
    static const struct sfb_cbf_decoder_options options = { .size = sizeof options,
                                                            .max_frames = FRAMES_MOST };
    struct report_merge *m = s->merge;
    struct sfb_cbf_decoder decoder;
    struct sfb_cbf_encoder encoder;
    struct sfb_cbf_item item, next;
    enum sfb_status status = sfb_cbf_decoder_init(&decoder, cbf->bytes, cbf->size, &options, NULL);
    bool whole = true, held = false;

    if (!report_merge_check(m, sfb_cbf_encoder_init(&encoder, m->cbf, MERGE_CBF_MOST, 64)))
        return false;
    while (whole && status == SFB_OK &&
           (status = sfb_cbf_decoder_next(&decoder, &next, NULL)) == SFB_OK) {
        whole = !held || put_item(s, &encoder, &item,
                                  item.kind == SFB_FRAME_RA && next.kind != SFB_FRAME_PC);
        item = next;
        held = true;
    }
    if (whole && held)
        whole = put_item(s, &encoder, &item, item.kind == SFB_FRAME_RA);
    if (m->status != SFB_OK)
        return false;
    whole = whole && status == SFB_END && !sfb_cbf_decoder_truncated(&decoder);
    return put_stack(s, cbf, sfb_cbf_encoder_end(&encoder, !whole), id);
}

bool merge_stacks_find(struct merge_stacks *s, uint32_t stack, uint32_t thread, uint64_t time,
                       uint32_t *id)
{
    const struct report_data *d = s->data;
    const struct report_cbf *cbf = stack == REPORT_NONE ? NULL : &d->stacks.at[stack];
    uint32_t list, at, *slot;
    bool found;

    *id = 0;
    if (!cbf || cbf->process != d->threads.at[thread].process)
        return true;
    list = report_data_list(d, cbf->process, time);
    if (!report_index_find(&s->stacks, stack, list, (uint32_t)s->ids.count, &at, &found))
        return report_merge_fail(s->merge, SFB_NO_RESOURCE);
    if (found) {
        *id = s->ids.at[at];
        return true;
    }
    slot = REPORT_NEXT(s->ids);
    if (!slot)
        return report_merge_fail(s->merge, SFB_NO_RESOURCE);
    return use(s, cbf->process, list) && convert(s, cbf, id) && (s->ids.at[at] = *id, true);
}

bool merge_stacks_module(struct merge_stacks *s, uint32_t process, uint64_t time, uint64_t start,
                         uint64_t *out)
{
    const uint32_t list = report_data_list(s->data, process, time);

    *out = 0;
    if (list == REPORT_NONE)
        return true;
    if (!use(s, process, list))
        return false;
    for (size_t i = 0; i < s->view.images.count; i++)
        if (s->view.images.modules[i].start == start && s->view.places[i] != REPORT_NONE)
            *out = s->merge->processes.at[s->processes[process]]
                       .places.modules.at[s->view.places[i]]
                       .base;
    return true;
}
