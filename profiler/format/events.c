#include "profiler/format/events.h"

#include <string.h>

#include "profiler/format/bodies_put.h"

void sfb_events_put(struct sfb_events *e, uint32_t kind, sfb_body_writer *write, const void *event)
{
    struct sfb_bytes *records = &e->columns[COLUMN_RECORDS];
    struct sfb_bytes *bodies = &e->columns[e->tree != NULL ? COLUMN_BODIES : COLUMN_RECORDS];

    e->body.size = 0;
    write(&e->body, event);
    sfb_bytes_put_u8(records, kind);
    sfb_bytes_put_text(bodies, e->body.at, e->body.size);
    e->records++;
}

/* 0: no stack; 1: the newest stack. */
static uint64_t stack_reference(const struct sfb_events *e, uint32_t id)
{
    return id == 0 ? 0 : (uint64_t)e->first_stack + e->stacks - id;
}

static uint64_t magnitude(uint64_t difference)
{
    return (int64_t)difference < 0 ? 0 - difference : difference;
}

static void put_plain_sample(struct sfb_events *e, const struct sfb_recording_sample *s)
{
    struct sfb_bytes *body = &e->body;

    body->size = 0;
    sfb_bytes_put_uleb(body, s->thread);
    sfb_bytes_put_uleb(body, stack_reference(e, s->stack));
    sfb_bytes_put_sleb(body, (int64_t)(s->time - e->last_time));
    sfb_bytes_put_uleb(body, s->weight);
    sfb_bytes_put_uleb(body, s->engine);
    sfb_bytes_put_uleb(body, s->end);
    sfb_bytes_put_u8(&e->columns[COLUMN_RECORDS], SFB_EVENT_SAMPLE);
    sfb_bytes_put_text(&e->columns[COLUMN_RECORDS], body->at, body->size);
}

/* The expected weight of a sample: for a busy thread the time passed, for another one its last weight. */
static void put_column_sample(struct sfb_events *e, const struct sfb_recording_sample *s)
{
    const uint64_t passed = s->time - e->last_time;
    const uint64_t by_time = s->weight - passed, by_weight = s->weight - e->last_weight;
    const bool timed = s->thread == e->last_thread && magnitude(by_time) <= magnitude(by_weight);

    sfb_bytes_put_u8(&e->columns[COLUMN_RECORDS],
                     timed ? RECORDING_SAMPLE_BY_TIME : RECORDING_SAMPLE_BY_WEIGHT);
    sfb_bytes_put_uleb(&e->columns[COLUMN_THREADS], s->thread);
    sfb_bytes_put_sleb(&e->columns[COLUMN_TIMES], (int64_t)passed);
    sfb_bytes_put_sleb(&e->columns[COLUMN_WEIGHTS], (int64_t)(timed ? by_time : by_weight));
    sfb_bytes_put_uleb(&e->columns[COLUMN_STACK_IDS], stack_reference(e, s->stack));
    sfb_bytes_put_uleb(&e->columns[COLUMN_ENDS], s->engine + (uint64_t)8 * s->end);
}

void sfb_events_put_sample(struct sfb_events *e, const struct sfb_recording_sample *s)
{
    if (e->tree != NULL)
        put_column_sample(e, s);
    else
        put_plain_sample(e, s);
    e->last_time = s->time;
    e->last_weight = s->weight;
    e->last_thread = s->thread;
    e->samples++;
    e->weight += s->weight;
    e->records++;
}

void sfb_events_put_wait(struct sfb_events *e, const struct sfb_recording_wait *wait)
{
    sfb_events_put(e, SFB_EVENT_WAIT, sfb_body_wait, wait);
    e->waited += wait->weight;
}

static void write_stack(struct sfb_bytes *body, const void *event)
{
    const struct sfb_recording_stack *stack = event;

    sfb_bytes_put_uleb(body, stack->process);
    sfb_bytes_put_text(body, stack->cbf, stack->size);
}

/* Whether the encoder would write the same bytes. CBF encoded otherwise is stored as it is. */
static bool is_as_encoded(const struct sfb_recording_stack *stack, struct sfb_stack_items *items)
{
    return sfb_stack_items_write(items) == stack->size &&
           memcmp(items->bytes, stack->cbf, stack->size) == 0;
}

bool sfb_events_put_stack(struct sfb_events *e, const struct sfb_recording_stack *stack,
                          struct sfb_stack_items *items)
{
    struct sfb_stack_place place;

    if (e->tree == NULL || items == NULL || !is_as_encoded(stack, items)) {
        sfb_events_put(e, SFB_EVENT_STACK, write_stack, stack);
        e->stacks++;
        return true;
    }
    if (!sfb_stack_tree_add(e->tree, items, stack->size, &place))
        return false;
    sfb_bytes_put_u8(&e->columns[COLUMN_RECORDS], RECORDING_STACK_TREE);
    sfb_bytes_put_uleb(&e->columns[COLUMN_PROCESSES], stack->process);
    sfb_bytes_put_u8(&e->columns[COLUMN_PARENTS], place.parent & 0xff);
    sfb_bytes_put_u8(&e->columns[COLUMN_PARENTS_HIGH], place.parent >> 8);
    sfb_bytes_put_uleb(&e->columns[COLUMN_COUNTS], place.added);
    e->stacks++;
    e->records++;
    return true;
}

size_t sfb_events_size(const struct sfb_events *e)
{
    size_t size = e->tree != NULL ? sfb_stack_tree_size(e->tree) : 0;

    for (size_t i = 0; i < COLUMN_COUNT; i++)
        size += e->columns[i].size;
    return size;
}

static void begin(struct sfb_events *e)
{
    e->first_stack += e->stacks;
    e->stacks = e->records = 0;
    e->samples = e->weight = e->waited = 0;
    e->last_time = e->last_weight = 0;
    e->last_thread = 0;
    for (size_t i = 0; i < COLUMN_COUNT; i++)
        e->columns[i].size = 0;
}

bool sfb_events_end(struct sfb_events *e, struct sfb_bytes *payload)
{
    const size_t columns = e->tree != NULL ? COLUMN_COUNT : 1;
    bool failed = e->body.failed;

    if (e->tree != NULL)
        sfb_stack_tree_write(e->tree, &e->columns[COLUMN_NODES], &e->columns[COLUMN_NODES_HIGH],
                             &e->columns[COLUMN_SYMBOLS]);
    sfb_bytes_put_uleb(payload, e->first_stack);
    if (e->tree != NULL) {
        sfb_bytes_put_uleb(payload, columns);
        for (size_t i = 0; i < columns; i++)
            sfb_bytes_put_uleb(payload, e->columns[i].size);
    }
    for (size_t i = 0; i < columns; i++) {
        sfb_bytes_put(payload, e->columns[i].at, e->columns[i].size);
        failed |= e->columns[i].failed;
    }
    begin(e);
    return !failed && !payload->failed;
}

void sfb_events_free(struct sfb_events *e)
{
    for (size_t i = 0; i < COLUMN_COUNT; i++)
        sfb_bytes_free(&e->columns[i]);
    sfb_bytes_free(&e->body);
    if (e->tree != NULL)
        sfb_stack_tree_close(e->tree);
    *e = (struct sfb_events){ 0 };
}
