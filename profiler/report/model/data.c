#include "profiler/report/model/data.h"

#include <stdlib.h>
#include <string.h>

#include "profiler/report/model/amount.h"
#include "profiler/report/model/heap_complete.h"
#include "sfb/image_map.h"

/* Ids ascend in a file, mostly by one: then the first guess is right. @return index; REPORT_NONE */
#define DEFINE_FIND(name, array)                                                                   \
    static uint32_t name(const struct report_data *d, uint32_t id)                                 \
    {                                                                                              \
        size_t low = 0, high = d->array.count;                                                     \
                                                                                                   \
        if (high > 0 && id - d->array.at[0].id < high &&                                           \
            d->array.at[id - d->array.at[0].id].id == id)                                          \
            return id - d->array.at[0].id;                                                         \
        while (low < high) {                                                                       \
            const size_t middle = low + (high - low) / 2;                                          \
                                                                                                   \
            if (d->array.at[middle].id < id)                                                       \
                low = middle + 1;                                                                  \
            else                                                                                   \
                high = middle;                                                                     \
        }                                                                                          \
        return low < d->array.count && d->array.at[low].id == id ? (uint32_t)low : REPORT_NONE;    \
    }

DEFINE_FIND(find_process, processes)
DEFINE_FIND(find_thread, threads)
DEFINE_FIND(find_stack, stacks)
DEFINE_FIND(find_code, codes)
DEFINE_FIND(find_awaited, awaited)

static char *copy(const void *bytes, size_t size)
{
    char *out = malloc(size + 1);

    if (!out)
        return NULL;
    if (size > 0)
        memcpy(out, bytes, size);
    out[size] = '\0';
    return out;
}

static char *copy_text(const char *text)
{
    return copy(text, strlen(text));
}

static bool read_start(struct report_data *d, const struct sfb_recording_start *from)
{
    if (d->start.command)
        return true; /* a second one: the first stays */
    d->start = *from;
    d->start.engine_text = copy_text(from->engine_text);
    d->start.version = copy_text(from->version);
    d->start.host = copy_text(from->host);
    d->start.command = copy(from->command, from->command_size);
    d->start.labels = NULL;
    d->start.labels_size = 0;
    return labels_add(&d->labels, from->labels, from->labels_size) && d->start.engine_text &&
           d->start.version && d->start.host && d->start.command;
}

static bool read_process(struct report_data *d, const struct sfb_recording_process *from)
{
    struct report_process *p;

    if (d->processes.count > 0 && from->id <= d->processes.at[d->processes.count - 1].id)
        return true;
    p = REPORT_NEXT(d->processes);
    if (!p)
        return false;
    *p = (struct report_process){ .id = from->id,
                                  .parent = from->parent,
                                  .pid = from->pid,
                                  .parent_pid = from->parent_pid,
                                  .how = from->how,
                                  .time = from->time,
                                  .program = copy_text(from->program),
                                  .arguments = copy(from->arguments, from->arguments_size),
                                  .arguments_size = from->arguments_size };
    return p->program && p->arguments;
}

static void read_process_end(struct report_data *d, const struct sfb_recording_process_end *from)
{
    const uint32_t i = find_process(d, from->id);
    struct report_process *p;

    if (i == REPORT_NONE)
        return;
    p = &d->processes.at[i];
    p->ended = true;
    p->end = from->end;
    p->status = from->status;
    p->end_time = from->time;
    p->cpu_ns = from->cpu_ns;
    p->unsampled_ns = from->unsampled_ns;
}

static bool read_thread(struct report_data *d, const struct sfb_recording_thread *from)
{
    const uint32_t process = find_process(d, from->process), i = find_thread(d, from->id);
    const bool is_new = i == REPORT_NONE;
    struct report_thread *t;
    char *name;

    if (process == REPORT_NONE ||
        (is_new && d->threads.count > 0 && from->id < d->threads.at[d->threads.count - 1].id))
        return true;
    name = copy_text(from->name);
    t = is_new ? REPORT_NEXT(d->threads) : &d->threads.at[i];
    if (!t || !name) {
        free(name);
        return false;
    }
    if (is_new) {
        t->id = from->id;
        t->process = process;
        t->tid = from->tid;
        t->time = from->time;
    }
    t->engine = from->engine;
    t->idle = from->idle;
    free(t->name);
    t->name = name;
    return true;
}

static void read_thread_end(struct report_data *d, const struct sfb_recording_thread_end *from)
{
    const uint32_t i = find_thread(d, from->id);
    struct report_thread *t;

    if (i == REPORT_NONE)
        return;
    t = &d->threads.at[i];
    t->ended = true;
    t->end_time = from->time;
    t->cpu_ns = from->cpu_ns;
    t->unsampled_ns = from->unsampled_ns;
}

/* Of an agent before its process had a module. Stacks of that time are of the first list that has some. */
static bool is_empty(const struct sfb_recording_modules *modules)
{
    struct sfb_image_map_prefix prefixes[16];
    char text[4096];
    const struct sfb_image_map_room room = {
        .text = text, .text_size = sizeof text, .prefixes = prefixes, .prefix_count = 16
    };
    struct sfb_image_map_decoder decoder;
    struct sfb_image image;
    struct sfb_error error;

    return modules->size < sizeof text &&
           sfb_image_map_decoder_init(&decoder, modules->map, modules->size, &room, &error) ==
               SFB_OK &&
           sfb_image_map_decoder_next(&decoder, &image, &error) == SFB_END;
}

static bool add_loss(struct report_data *d, uint32_t reason, uint64_t count, const char *text)
{
    struct report_loss *loss = REPORT_NEXT(d->losses);

    if (!loss)
        return false;
    loss->reason = reason;
    loss->count = count;
    loss->text = copy_text(text);
    return loss->text != NULL;
}

static bool read_modules(struct report_data *d, const struct sfb_recording_modules *from)
{
    const uint32_t process = find_process(d, from->process);
    struct report_list *list;

    if (process == REPORT_NONE)
        return true;
    if (is_empty(from))
        return add_loss(d, SFB_LOSS_MODULES, 1, "a list without a module");
    list = REPORT_NEXT(d->lists);
    if (!list)
        return false;
    d->processes.at[process].modules = from->time;
    list->process = process;
    list->time = from->time;
    list->map = (uint8_t *)copy(from->map, from->size);
    list->size = from->size;
    return list->map != NULL;
}

static bool read_stack(struct report_data *d, const struct sfb_recording_stack *from)
{
    const uint32_t process = find_process(d, from->process);
    struct report_cbf *stack;

    if (process == REPORT_NONE ||
        (d->stacks.count > 0 && from->id <= d->stacks.at[d->stacks.count - 1].id))
        return true;
    stack = REPORT_NEXT(d->stacks);
    if (!stack)
        return false;
    *stack = (struct report_cbf){ .id = from->id,
                                  .process = process,
                                  .bytes = (uint8_t *)copy(from->cbf, from->size),
                                  .size = from->size };
    return stack->bytes != NULL;
}

static bool read_code(struct report_data *d, const struct sfb_recording_code *from)
{
    struct report_script *code;

    if (d->codes.count > 0 && from->id <= d->codes.at[d->codes.count - 1].id)
        return true;
    code = REPORT_NEXT(d->codes);
    if (!code)
        return false;
    *code = (struct report_script){ .id = from->id,
                                    .first_line = from->first_line,
                                    .name = copy_text(from->name),
                                    .file = copy_text(from->file) };
    return code->name && code->file;
}

static bool read_code_frames(struct report_data *d, const struct sfb_recording_code_frames *from)
{
    const size_t size = from->count * sizeof *from->frames;
    struct report_code_frames *frames;

    if (d->code_frames.count > 0 &&
        from->stack <= d->code_frames.at[d->code_frames.count - 1].stack)
        return true;
    frames = REPORT_NEXT(d->code_frames);
    if (!frames)
        return false;
    *frames = (struct report_code_frames){ .stack = from->stack,
                                           .frames = (void *)copy(from->frames, size),
                                           .count = from->count,
                                           .gil = from->gil };
    d->gil_count += from->gil != SFB_GIL_UNKNOWN;
    return frames->frames != NULL;
}

uint32_t report_data_code(const struct report_data *d, uint32_t id)
{
    return find_code(d, id);
}

const struct report_code_frames *report_data_code_frames(const struct report_data *d,
                                                         uint32_t stack_id)
{
    size_t low = 0, high = d->code_frames.count;

    while (low < high) {
        const size_t middle = low + (high - low) / 2;

        if (d->code_frames.at[middle].stack < stack_id)
            low = middle + 1;
        else
            high = middle;
    }
    return low < d->code_frames.count && d->code_frames.at[low].stack == stack_id
               ? &d->code_frames.at[low]
               : NULL;
}

static bool read_sample(struct report_data *d, const struct sfb_recording_sample *from)
{
    const uint32_t thread = find_thread(d, from->thread);
    struct report_sample *sample;

    if (thread == REPORT_NONE)
        return true;
    sample = REPORT_NEXT(d->samples);
    if (!sample)
        return false;
    *sample = (struct report_sample){ .thread = thread,
                                      .stack = find_stack(d, from->stack),
                                      .end = from->end,
                                      .engine = from->engine,
                                      .time = from->time,
                                      .weight = from->weight };
    d->sample_count++;
    if (d->first_sample == 0 || from->time < d->first_sample)
        d->first_sample = from->time;
    if (from->time > d->last_sample)
        d->last_sample = from->time;
    d->sampled_ns = report_saturated(d->sampled_ns, from->weight);
    return true;
}

static bool read_awaited(struct report_data *d, const struct sfb_recording_awaited *from)
{
    const uint32_t process = find_process(d, from->process);
    struct report_awaited *awaited;

    if (process == REPORT_NONE ||
        (d->awaited.count > 0 && from->id <= d->awaited.at[d->awaited.count - 1].id))
        return true;
    awaited = REPORT_NEXT(d->awaited);
    if (!awaited)
        return false;
    *awaited = (struct report_awaited){ .id = from->id,
                                        .kind = from->kind,
                                        .process = process,
                                        .address = from->address,
                                        .start = from->start,
                                        .name = copy_text(from->name) };
    return awaited->name != NULL;
}

static bool read_mark(struct report_data *d, const struct sfb_recording_mark *from)
{
    struct report_moment *mark = REPORT_NEXT(d->marks);

    if (!mark)
        return false;
    *mark = (struct report_moment){ .time = from->time, .name = copy_text(from->name) };
    return mark->name != NULL;
}

static bool read_pause(struct report_data *d, const struct sfb_recording_pause *from)
{
    const size_t count = from->part > 0 ? d->part_pauses.count : d->pauses.count;
    struct report_pause *last = from->part > 0 ? d->part_pauses.at : d->pauses.at, *next;
    uint64_t begin;
    bool paused;

    last = count > 0 ? last + count - 1 : NULL;
    paused = last && last->to == 0 && last->part == from->part;
    if (paused && from->paused == 0)
        last->to = from->time > last->from ? from->time : last->from + 1;
    if (paused || from->paused == 0)
        return true;
    /* In a damaged file a pause may begin in the one before. */
    begin = last && last->part == from->part && last->to > from->time ? last->to : from->time;
    next = from->part > 0 ? REPORT_NEXT(d->part_pauses) : REPORT_NEXT(d->pauses);
    if (next)
        *next = (struct report_pause){ .from = begin, .part = from->part };
    return next != NULL;
}

/* @return index of the first pause that ends behind a time */
static size_t first_pause(const struct report_data *d, uint64_t time)
{
    size_t low = 0, high = d->pauses.count;

    while (low < high) {
        const size_t middle = low + (high - low) / 2;
        const struct report_pause *p = &d->pauses.at[middle];

        if (p->to > 0 && p->to <= time)
            low = middle + 1;
        else
            high = middle;
    }
    return low;
}

uint64_t report_data_paused(const struct report_data *d, uint64_t from, uint64_t to)
{
    const uint64_t start = d->start.monotonic, end = report_data_end(d);
    const uint64_t first = report_saturated(start, from),
                   last = to > 0 && report_saturated(start, to) < end ? start + to : end;
    uint64_t sum = 0;

    for (size_t i = first_pause(d, first); i < d->pauses.count; i++) {
        const struct report_pause *p = &d->pauses.at[i];
        const uint64_t begin = p->from > first ? p->from : first,
                       stop = p->to > 0 && p->to < last ? p->to : last;

        if (p->from >= last)
            break;
        if (stop > begin)
            sum = report_saturated(sum, stop - begin);
    }
    return sum;
}

uint64_t report_data_recorded(const struct report_data *d)
{
    const uint64_t all = report_data_end(d) - d->start.monotonic,
                   paused = report_data_paused(d, 0, 0);

    return all > paused ? all - paused : 0;
}

bool report_data_mark(const struct report_data *d, const char *name, uint64_t *out)
{
    for (size_t i = 0; i < d->marks.count; i++)
        if (strcmp(d->marks.at[i].name, name) == 0) {
            const uint64_t time = d->marks.at[i].time;

            *out = time > d->start.monotonic ? time - d->start.monotonic : 0;
            return true;
        }
    return false;
}

static bool read_wait(struct report_data *d, const struct sfb_recording_wait *from)
{
    const uint32_t thread = find_thread(d, from->thread);
    struct report_wait *wait;
    uint32_t call, waker;

    if (thread == REPORT_NONE)
        return true;
    wait = report_strings_add(&d->calls, from->call, &call) &&
                   report_strings_add(&d->calls, from->waker_name, &waker)
               ? REPORT_NEXT(d->waits)
               : NULL;
    if (!wait)
        return false;
    *wait = (struct report_wait){ .thread = thread,
                                  .stack = find_stack(d, from->stack),
                                  .state = from->state,
                                  .end = from->end,
                                  .call = call,
                                  .time = from->time,
                                  .weight = from->weight,
                                  .awaited = find_awaited(d, from->awaited),
                                  .holder = find_thread(d, from->holder),
                                  .holder_stack = find_stack(d, from->holder_stack),
                                  .since = from->since,
                                  .waker = find_thread(d, from->waker),
                                  .waker_stack = find_stack(d, from->waker_stack),
                                  .waker_name = waker };
    d->wait_count++;
    if (d->first_sample == 0 || from->time < d->first_sample)
        d->first_sample = from->time;
    if (from->time > d->last_sample)
        d->last_sample = from->time;
    return true;
}

static bool read_loss(struct report_data *d, const struct sfb_recording_losses *from)
{
    if (from->reason == SFB_LOSS_HEAP_EVENTS && from->count > 0)
        report_heap_add_loss(&d->heap, find_process(d, from->process));
    return add_loss(d, from->reason, from->count, from->text);
}

static bool read_file(struct report_data *d, const struct sfb_recording_file *from)
{
    const uint32_t process = find_process(d, from->process);
    struct report_file *file;

    if (process == REPORT_NONE)
        return true;
    file = REPORT_NEXT(d->files);
    if (!file)
        return false;
    file->process = process;
    file->bytes = copy(from->bytes, from->size);
    file->size = from->size;
    return file->bytes != NULL;
}

static bool read_finish(struct report_data *d, const struct sfb_recording_finish *from)
{
    free((char *)(uintptr_t)d->finish.reason);
    d->finish = *from;
    d->finish.reason = copy_text(from->reason);
    return d->finish.reason != NULL;
}

/* --- The heap ---------------------------------------------------------------------------------- */

static bool read_heap(struct report_data *d, const struct sfb_recording_heap *from)
{
    const uint32_t process = find_process(d, from->process);

    return process == REPORT_NONE || report_heap_add(&d->heap, process, from);
}

static bool read_heap_site(struct report_data *d, const struct sfb_recording_heap_site *from)
{
    const uint32_t thread = find_thread(d, from->thread), stack = find_stack(d, from->stack);
    uint32_t process;

    if (thread == REPORT_NONE)
        return true;
    process = d->threads.at[thread].process;
    /* A stack is of the modules of its process, where they are written before it. */
    return report_heap_add_site(
        &d->heap, process, thread, stack,
        d->processes.at[stack == REPORT_NONE ? process : d->stacks.at[stack].process].modules,
        from);
}

static bool read_heap_state(struct report_data *d, const struct sfb_recording_heap_state *from)
{
    const uint32_t process = find_process(d, from->process);

    return process == REPORT_NONE || report_heap_add_state(&d->heap, process, from);
}

/* @return false: no memory */
static bool read_event(struct report_data *d, const struct sfb_recording_event *e)
{
    switch (e->kind) {
    case SFB_EVENT_START: return read_start(d, &e->of.start);
    case SFB_EVENT_PROCESS: return read_process(d, &e->of.process);
    case SFB_EVENT_PROCESS_END: read_process_end(d, &e->of.process_end); return true;
    case SFB_EVENT_THREAD: return read_thread(d, &e->of.thread);
    case SFB_EVENT_THREAD_END: read_thread_end(d, &e->of.thread_end); return true;
    case SFB_EVENT_MODULES: return read_modules(d, &e->of.modules);
    case SFB_EVENT_STACK: return read_stack(d, &e->of.stack);
    case SFB_EVENT_CODE: return read_code(d, &e->of.code);
    case SFB_EVENT_CODE_FRAMES: return read_code_frames(d, &e->of.code_frames);
    case SFB_EVENT_SAMPLE: return read_sample(d, &e->of.sample);
    case SFB_EVENT_MARK: return read_mark(d, &e->of.mark);
    case SFB_EVENT_PAUSE: return read_pause(d, &e->of.pause);
    case SFB_EVENT_AWAITED: return read_awaited(d, &e->of.awaited);
    case SFB_EVENT_WAIT: return read_wait(d, &e->of.wait);
    case SFB_EVENT_LOSSES: return read_loss(d, &e->of.losses);
    case SFB_EVENT_FILE: return read_file(d, &e->of.file);
    case SFB_EVENT_FINISH: return read_finish(d, &e->of.finish);
    case SFB_EVENT_HEAP: return read_heap(d, &e->of.heap);
    case SFB_EVENT_HEAP_SITE: return read_heap_site(d, &e->of.heap_site);
    case SFB_EVENT_HEAP_TOTALS: return report_heap_add_totals(&d->heap, &e->of.heap_totals);
    case SFB_EVENT_HEAP_STATE: return read_heap_state(d, &e->of.heap_state);
    case SFB_EVENT_HEAP_EVENT: return report_heap_add_event(&d->heap, &e->of.heap_event);
    default: return true; /* of a later version */
    }
}

/* Lists of one process together, each by its time. */
static int compare_lists(const void *a, const void *b)
{
    const struct report_list *x = a, *y = b;

    if (x->process != y->process)
        return x->process < y->process ? -1 : 1;
    return (x->time > y->time) - (x->time < y->time);
}

static int compare_losses(const void *a, const void *b)
{
    const struct report_loss *x = a, *y = b;

    if (x->reason != y->reason)
        return x->reason < y->reason ? -1 : 1;
    return strcmp(x->text, y->text);
}

void report_data_sort_losses(struct report_data *d)
{
    if (d->losses.count > 1)
        qsort(d->losses.at, d->losses.count, sizeof *d->losses.at, compare_losses);
}

enum sfb_status report_data_read(struct report_data *out, const char *path, struct sfb_error *error)
{
    struct sfb_recording_reader *reader;
    struct sfb_recording_event event;
    enum sfb_status status;

    *out = (struct report_data){ .health = { .size = 0 } };
    status = sfb_recording_reader_open(&reader, path, error);
    if (status != SFB_OK)
        return status;
    while ((status = sfb_recording_reader_next(reader, &event)) == SFB_OK)
        if (!read_event(out, &event)) {
            status = SFB_NO_RESOURCE;
            break;
        }
    sfb_recording_reader_health(reader, &out->health);
    sfb_recording_reader_close(reader);
    *error = (struct sfb_error){ .status = status, .field = "memory" };
    if (out->lists.count > 1)
        qsort(out->lists.at, out->lists.count, sizeof *out->lists.at, compare_lists);
    if (status == SFB_END && !report_heap_complete(&out->heap))
        status = error->status = SFB_NO_RESOURCE;
    if (status == SFB_END)
        report_data_sort_losses(out);
    return status == SFB_END ? SFB_OK : status;
}

uint32_t report_data_list(const struct report_data *d, uint32_t process, uint64_t time)
{
    size_t low = 0, high = d->lists.count;

    /* Behind the last one of the process that is not later. */
    while (low < high) {
        const size_t middle = low + (high - low) / 2;
        const struct report_list *list = &d->lists.at[middle];

        if (list->process < process || (list->process == process && list->time <= time))
            low = middle + 1;
        else
            high = middle;
    }
    if (low > 0 && d->lists.at[low - 1].process == process)
        return (uint32_t)(low - 1);
    return low < d->lists.count && d->lists.at[low].process == process ? (uint32_t)low
                                                                       : REPORT_NONE;
}

uint64_t report_data_end(const struct report_data *d)
{
    uint64_t end = d->finish.time;

    if (d->last_sample > end)
        end = d->last_sample;
    for (size_t i = 0; i < d->heap.heaps.count; i++)
        if (d->heap.heaps.at[i].last > end)
            end = d->heap.heaps.at[i].last;
    return end > d->start.monotonic ? end : d->start.monotonic;
}

bool report_data_is_wall(const struct report_data *d)
{
    static const char words[] = "CPU time and waits";
    const char *text = d->start.engine_text ? d->start.engine_text : "";

    return d->wait_count > 0 || strncmp(text, words, sizeof words - 1) == 0;
}

bool report_data_has_wakers(const struct report_data *d)
{
    const char *text = d->start.engine_text ? d->start.engine_text : "";

    return report_data_is_wall(d) && strstr(text, "stacks and wakers") != NULL;
}

#define FREE_EACH(array, member)                                                                   \
    for (size_t i = 0; i < (array).count; i++)                                                     \
    free((array).at[i].member)

void report_data_release(struct report_data *d)
{
    FREE_EACH(d->stacks, bytes);
    FREE_EACH(d->code_frames, frames);
    free(d->code_frames.at);
    d->code_frames.at = NULL;
    d->code_frames.count = d->code_frames.room = 0;
    free(d->stacks.at);
    free(d->samples.at);
    free(d->waits.at);
    d->stacks.at = NULL;
    d->samples.at = NULL;
    d->waits.at = NULL;
    d->waits.count = d->waits.room = 0;
    d->stacks.count = d->stacks.room = d->samples.count = d->samples.room = 0;
}

void report_data_free(struct report_data *d)
{
    report_data_release(d);
    FREE_EACH(d->processes, program);
    FREE_EACH(d->processes, arguments);
    FREE_EACH(d->threads, name);
    FREE_EACH(d->lists, map);
    FREE_EACH(d->losses, text);
    FREE_EACH(d->files, bytes);
    FREE_EACH(d->codes, name);
    FREE_EACH(d->codes, file);
    FREE_EACH(d->awaited, name);
    free(d->awaited.at);
    FREE_EACH(d->marks, name);
    free(d->marks.at);
    free(d->pauses.at);
    free(d->part_pauses.at);
    free(d->codes.at);
    free((char *)(uintptr_t)d->start.engine_text);
    free((char *)(uintptr_t)d->start.version);
    free((char *)(uintptr_t)d->start.host);
    free((char *)(uintptr_t)d->start.command);
    labels_free(&d->labels);
    free((char *)(uintptr_t)d->finish.reason);
    free(d->processes.at);
    free(d->threads.at);
    free(d->lists.at);
    free(d->losses.at);
    free(d->files.at);
    report_strings_free(&d->calls);
    report_heap_free(&d->heap);
    *d = (struct report_data){ .health = { .size = 0 } };
}
