#include "profiler/format/events_read.h"

#include <errno.h>

#include "base/leb128.h"
#include "cbf/common.h"
#include "profiler/format/bodies_get.h"
#include "profiler/format/body_parts.h"

/* A block without its beginning, or another file's block, must not give new stacks ids already in use. */
static bool read_first_stack(struct sfb_events_reader *e, const struct sfb_introduced *introduced,
                             struct sfb_reader *in)
{
    e->next_stack = sfb_reader_uleb(in);
    return !in->failed && e->next_stack > sfb_ids_last(&introduced->stacks) &&
           e->next_stack <= UINT32_MAX;
}

static bool read_columns(struct sfb_events_reader *e, struct sfb_reader *in)
{
    uint64_t sizes[COLUMN_COUNT] = { 0 };
    const uint64_t count = sfb_reader_uleb(in);

    if (in->failed || count < COLUMN_COUNT || count > in->left)
        return false;
    for (uint64_t i = 0; i < count; i++) {
        const uint64_t size = sfb_reader_uleb(in);

        if (i < COLUMN_COUNT) /* later columns: a later version's */
            sizes[i] = size;
    }
    for (size_t i = 0; i < COLUMN_COUNT; i++) {
        e->columns[i] = (struct sfb_reader){ .pos = in->pos };
        sfb_reader_skip(in, sizes[i]);
        if (in->failed)
            return false;
        e->columns[i].left = (size_t)sizes[i];
    }
    return true;
}

bool sfb_events_begin(struct sfb_events_reader *e, const struct sfb_introduced *introduced,
                      const uint8_t *payload, size_t size, bool has_columns)
{
    struct sfb_reader in = { .pos = payload, .left = size };

    errno = 0;
    e->has_columns = has_columns;
    e->last_time = e->last_weight = 0;
    if (!read_first_stack(e, introduced, &in))
        return false;
    if (!has_columns) {
        e->columns[COLUMN_RECORDS] = in;
        return true;
    }
    if (e->tree == NULL && (e->tree = sfb_tree_new()) == NULL) {
        errno = ENOMEM;
        return false;
    }
    return read_columns(e, &in) &&
           sfb_tree_begin(e->tree, &e->columns[COLUMN_NODES], &e->columns[COLUMN_NODES_HIGH],
                          &e->columns[COLUMN_SYMBOLS]);
}

/* The inverse of stack_reference(): 0 is no stack, 1 the newest. */
static bool read_stack_id(const struct sfb_events_reader *e, struct sfb_reader *in, uint32_t *out)
{
    const uint64_t reference = sfb_reader_uleb(in);

    *out = reference == 0 ? 0 : (uint32_t)(e->next_stack - reference);
    return !in->failed && reference < e->next_stack;
}

static bool read_column_sample(struct sfb_events_reader *e, struct sfb_recording_sample *s,
                               bool by_time)
{
    struct sfb_reader *columns = e->columns;
    const uint64_t passed = (uint64_t)sfb_reader_sleb(&columns[COLUMN_TIMES]);
    const uint64_t more = (uint64_t)sfb_reader_sleb(&columns[COLUMN_WEIGHTS]);
    const uint64_t how = sfb_reader_uleb(&columns[COLUMN_ENDS]);

    s->thread = sfb_body_u32(&columns[COLUMN_THREADS]);
    s->time = e->last_time + passed;
    s->weight = more + (by_time ? passed : e->last_weight);
    s->engine = how & 7;
    s->end = (uint32_t)(how >> 3);
    return read_stack_id(e, &columns[COLUMN_STACK_IDS], &s->stack) && how >> 3 <= UINT32_MAX &&
           !columns[COLUMN_TIMES].failed && !columns[COLUMN_WEIGHTS].failed &&
           !columns[COLUMN_ENDS].failed && !columns[COLUMN_THREADS].failed;
}

static bool read_plain_sample(struct sfb_events_reader *e, struct sfb_recording_sample *s,
                              struct sfb_reader *body)
{
    s->thread = sfb_body_u32(body);
    if (!read_stack_id(e, body, &s->stack))
        return false;
    s->time = e->last_time + (uint64_t)sfb_reader_sleb(body);
    s->weight = sfb_reader_uleb(body);
    s->engine = sfb_body_u32(body);
    s->end = sfb_body_u32(body);
    return !body->failed;
}

static bool read_tree_stack(struct sfb_events_reader *e, struct sfb_recording_stack *s)
{
    struct sfb_reader *columns = e->columns;
    const uint32_t low = sfb_reader_u8(&columns[COLUMN_PARENTS]);
    const uint32_t high = sfb_reader_u8(&columns[COLUMN_PARENTS_HIGH]);
    const uint64_t added = sfb_reader_uleb(&columns[COLUMN_COUNTS]);

    s->process = sfb_body_u32(&columns[COLUMN_PROCESSES]);
    if (columns[COLUMN_PARENTS].failed || columns[COLUMN_PARENTS_HIGH].failed ||
        columns[COLUMN_COUNTS].failed || columns[COLUMN_PROCESSES].failed)
        return false;
    s->size = sfb_tree_stack(e->tree, low | high << 8, added);
    s->cbf = e->tree->items.bytes;
    return s->size > 0;
}

/* Checked here, because readers of stacks may trust them. */
static bool is_cbf(const struct sfb_recording_stack *s)
{
    static const struct sfb_cbf_decoder_options options = { .size = sizeof options,
                                                            .flags = SFB_CBF_REQUIRE_END };
    struct sfb_cbf_decoder decoder;
    struct sfb_cbf_item item;
    enum sfb_status status = sfb_cbf_decoder_init(&decoder, s->cbf, s->size, &options, NULL);

    while (status == SFB_OK)
        if (cbf_next_common(&decoder) == 0)
            status = sfb_cbf_decoder_next(&decoder, &item, NULL);
    return status == SFB_END;
}

static bool read_plain_stack(struct sfb_recording_stack *s, struct sfb_reader *body)
{
    s->process = sfb_body_u32(body);
    s->cbf = sfb_body_bytes(body, &s->size);
    return !body->failed && is_cbf(s);
}

static bool take_stack_id(struct sfb_events_reader *e, struct sfb_recording_event *out)
{
    out->kind = SFB_EVENT_STACK;
    out->of.stack.id = (uint32_t)e->next_stack++;
    return e->next_stack <= UINT32_MAX;
}

/* Sets the base of the next sample. */
static void take_sample(struct sfb_events_reader *e, struct sfb_recording_event *out)
{
    out->kind = SFB_EVENT_SAMPLE;
    e->last_time = out->of.sample.time;
    e->last_weight = out->of.sample.weight;
}

static enum sfb_record read_with_body(struct sfb_events_reader *e, uint32_t record,
                                      struct sfb_reader *body, struct sfb_bytes *text,
                                      struct sfb_recording_event *out)
{
    if (record == SFB_EVENT_SAMPLE) {
        if (!read_plain_sample(e, &out->of.sample, body))
            return RECORD_CUT; /* later times count from this one */
        take_sample(e, out);
        return RECORD_GIVEN;
    }
    if (record == SFB_EVENT_STACK) {
        if (!take_stack_id(e, out))
            return RECORD_CUT;
        return read_plain_stack(&out->of.stack, body) ? RECORD_GIVEN : RECORD_BAD;
    }
    if (record < SFB_EVENT_PROCESS || record > SFB_EVENT_PAUSE || record == SFB_EVENT_HEAP_EVENT ||
        record == SFB_EVENT_FILE)
        return RECORD_UNKNOWN;
    if (sfb_body_read(out, record, body, text))
        return RECORD_GIVEN;
    return text->failed ? RECORD_NO_MEMORY : RECORD_BAD;
}

static enum sfb_record read_compact(struct sfb_events_reader *e, uint32_t record,
                                    struct sfb_recording_event *out)
{
    switch (record) {
    case RECORDING_SAMPLE_BY_TIME:
    case RECORDING_SAMPLE_BY_WEIGHT:
        if (!read_column_sample(e, &out->of.sample, record == RECORDING_SAMPLE_BY_TIME))
            return RECORD_CUT;
        take_sample(e, out);
        return RECORD_GIVEN;
    case RECORDING_STACK_TREE:
        if (!take_stack_id(e, out) || !read_tree_stack(e, &out->of.stack))
            return RECORD_CUT;
        return RECORD_GIVEN;
    default: return RECORD_UNKNOWN; /* an unknown kind has its fields in unknown columns */
    }
}

enum sfb_record sfb_events_next(struct sfb_events_reader *e, struct sfb_introduced *introduced,
                                struct sfb_bytes *text, struct sfb_recording_event *out)
{
    struct sfb_reader *records = &e->columns[COLUMN_RECORDS];
    struct sfb_reader *bodies = &e->columns[e->has_columns ? COLUMN_BODIES : COLUMN_RECORDS];
    struct sfb_reader body = { 0 };
    enum sfb_record result;
    uint32_t record;

    if (records->left == 0)
        return RECORD_END;
    record = sfb_reader_u8(records);
    if (e->has_columns && record >= RECORDING_COMPACT) {
        result = read_compact(e, record, out);
    } else {
        body.pos = sfb_body_bytes(bodies, &body.left);
        if (bodies->failed)
            return RECORD_CUT;
        result = read_with_body(e, record, &body, text, out);
    }
    if (result == RECORD_GIVEN && !sfb_introduce(introduced, out))
        return RECORD_BAD;
    return result;
}

static bool has(const struct sfb_ids *ids, uint32_t id)
{
    return sfb_ids_has(ids, id);
}

static bool none_or_has(const struct sfb_ids *ids, uint32_t id)
{
    return id == 0 || sfb_ids_has(ids, id);
}

static bool have_codes(const struct sfb_introduced *known,
                       const struct sfb_recording_code_frames *frames)
{
    for (size_t i = 0; i < frames->count; i++)
        if (!none_or_has(&known->codes, frames->frames[i].code))
            return false;
    return has(&known->stacks, frames->stack);
}

bool sfb_introduce(struct sfb_introduced *known, const struct sfb_recording_event *event)
{
    switch ((enum sfb_recording_kind)event->kind) {
    case SFB_EVENT_START:
    case SFB_EVENT_MARK:
    case SFB_EVENT_PAUSE:
    case SFB_EVENT_FINISH: return true;
    case SFB_EVENT_PROCESS:
        return none_or_has(&known->processes, event->of.process.parent) &&
               sfb_ids_add(&known->processes, event->of.process.id);
    case SFB_EVENT_PROCESS_END: return has(&known->processes, event->of.process_end.id);
    case SFB_EVENT_THREAD:
        return has(&known->processes, event->of.thread.process) &&
               (has(&known->threads, event->of.thread.id) ||
                sfb_ids_add(&known->threads, event->of.thread.id));
    case SFB_EVENT_THREAD_END: return has(&known->threads, event->of.thread_end.id);
    case SFB_EVENT_MODULES: return has(&known->processes, event->of.modules.process);
    case SFB_EVENT_STACK:
        return has(&known->processes, event->of.stack.process) &&
               sfb_ids_add(&known->stacks, event->of.stack.id);
    case SFB_EVENT_SAMPLE:
        return has(&known->threads, event->of.sample.thread) &&
               none_or_has(&known->stacks, event->of.sample.stack);
    case SFB_EVENT_WAIT:
        return has(&known->threads, event->of.wait.thread) &&
               none_or_has(&known->stacks, event->of.wait.stack) &&
               none_or_has(&known->awaited, event->of.wait.awaited) &&
               none_or_has(&known->threads, event->of.wait.holder) &&
               none_or_has(&known->stacks, event->of.wait.holder_stack) &&
               none_or_has(&known->threads, event->of.wait.waker) &&
               none_or_has(&known->stacks, event->of.wait.waker_stack);
    case SFB_EVENT_LOSSES:
        return none_or_has(&known->processes, event->of.losses.process) &&
               none_or_has(&known->threads, event->of.losses.thread);
    case SFB_EVENT_FILE: return has(&known->processes, event->of.file.process);
    case SFB_EVENT_HEAP: return has(&known->processes, event->of.heap.process);
    case SFB_EVENT_HEAP_SITE:
        return has(&known->threads, event->of.heap_site.thread) &&
               none_or_has(&known->stacks, event->of.heap_site.stack) &&
               sfb_ids_add(&known->sites, event->of.heap_site.id);
    case SFB_EVENT_HEAP_TOTALS: return has(&known->sites, event->of.heap_totals.site);
    case SFB_EVENT_HEAP_STATE: return has(&known->processes, event->of.heap_state.process);
    case SFB_EVENT_HEAP_EVENT:
        return has(&known->processes, event->of.heap_event.process) &&
               has(&known->sites, event->of.heap_event.site);
    case SFB_EVENT_CODE:
        return has(&known->processes, event->of.code.process) &&
               sfb_ids_add(&known->codes, event->of.code.id);
    case SFB_EVENT_AWAITED:
        return has(&known->processes, event->of.awaited.process) &&
               sfb_ids_add(&known->awaited, event->of.awaited.id);
    case SFB_EVENT_CODE_FRAMES: return have_codes(known, &event->of.code_frames);
    }
    return false;
}
