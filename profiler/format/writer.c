/*
 * Encodes events to blocks, and writes blocks to the file.
 *
 * There is one open block of events, so the order of the file is the order of the calls: a thread before its samples, a
 * module list before its samples. Columns, and the tree of its stacks, make the block small.
 *
 * A block is written with one write(2). If that fails, the file is truncated to its last whole block.
 */
#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/sized.h"
#include "profiler/format/bodies_put.h"
#include "profiler/format/crc32c.h"
#include "profiler/format/heap_writer.h"
#include "profiler/format/packer.h"

enum {
    TEXT_MAX = 8 << 20, /* of the variable parts of an event */
    CBF_MAX = 1 << 20
};

enum sfb_status sfb_recording_writer_flush(struct sfb_recording_writer *w)
{
    if (w->error != 0)
        return SFB_NO_RESOURCE;
    if (sfb_heap_writer_flush(w, 0) != SFB_OK)
        return SFB_NO_RESOURCE;
    return sfb_writer_flush_to(w, sfb_writer_size_for_samples(w));
}

static void release(struct sfb_recording_writer *w)
{
    if (w->packer_state != NULL)
        w->packer->release(w->packer_state);
    sfb_events_free(&w->events);
    sfb_bytes_free(&w->block);
    sfb_bytes_free(&w->payload);
    sfb_known_stacks_free(&w->known);
    sfb_ids_free(&w->processes);
    sfb_ids_free(&w->threads);
    sfb_ids_free(&w->sites);
    sfb_ids_free(&w->codes);
    sfb_ids_free(&w->awaited);
    sfb_bytes_free(&w->key);
    for (size_t i = 0; i < WRITER_HEAP_OPEN; i++)
        sfb_heap_events_free(&w->heap[i]);
    free(w);
}

static void put_file_header(struct sfb_bytes *out)
{
    uint8_t *at = sfb_bytes_add(out, RECORDING_HEADER_SIZE);

    if (at == NULL)
        return;
    memcpy(at, RECORDING_MAGIC, RECORDING_MAGIC_SIZE);
    recording_put_le(at + 8, RECORDING_MAJOR, 1);
    recording_put_le(at + 9, RECORDING_MINOR, 1);
    recording_put_le(at + 10, RECORDING_HEADER_SIZE, 2);
    recording_put_le(at + RECORDING_HEADER_CRC, sfb_crc32c(0, at, RECORDING_HEADER_CRC), 4);
}

static enum sfb_status begin(struct sfb_recording_writer *w,
                             const struct sfb_recording_start *start)
{
    w->events.first_stack = 1;
    if (w->packer != NULL && ((w->packer_state = w->packer->open()) == NULL ||
                              (w->events.tree = sfb_stack_tree_open()) == NULL))
        return sfb_writer_fail(w, ENOMEM);
    put_file_header(&w->block);
    sfb_body_start(&w->payload, start);
    return sfb_writer_put_block(w, RECORDING_START, 0, 1, w->max_size);
}

enum sfb_status sfb_recording_writer_open(struct sfb_recording_writer **out, int fd,
                                          const struct sfb_recording_start *start,
                                          const struct sfb_recording_writer_options *options)
{
    struct sfb_recording_writer_options o = SFB_RECORDING_WRITER_OPTIONS_INIT;
    struct sfb_recording_writer *w;
    enum sfb_status status;

    if (out == NULL || fd < 0 || start == NULL || start->command_size > TEXT_MAX ||
        start->labels_size > TEXT_MAX)
        return SFB_BAD_ARGUMENT;
    if (options != NULL && (status = sfb_sized_read(&o, sizeof o, options)) != SFB_OK)
        return status;
    w = calloc(1, sizeof *w);
    if (w == NULL)
        return SFB_NO_RESOURCE;
    w->fd = fd;
    w->packer = o.packer;
    w->max_size = o.max_size;
    status = begin(w, start);
    if (status != SFB_OK) {
        const int error = w->error;

        release(w);
        errno = error;
        return status;
    }
    *out = w;
    return SFB_OK;
}

/*
 * As sfb_writer_put(), for events that end something: past max_size, some room is reserved for them. A process or thread
 * that was introduced only in the block that did not fit is not in the file.
 */
static enum sfb_status put_end(struct sfb_recording_writer *w, uint32_t kind,
                               sfb_body_writer *write, const void *event, bool is_in_file)
{
    if (w->error == EFBIG) {
        sfb_heap_writer_flush_totals(w);
        if (is_in_file && w->events.records < 1000)
            sfb_events_put(&w->events, kind, write, event);
        return SFB_OK;
    }
    return sfb_writer_put(w, kind, write, event);
}

static bool has_process(const struct sfb_recording_writer *w, uint32_t id)
{
    return sfb_ids_has(&w->processes, id);
}

static bool has_thread(const struct sfb_recording_writer *w, uint32_t id)
{
    return sfb_ids_has(&w->threads, id);
}

enum sfb_status sfb_recording_put_process(struct sfb_recording_writer *w,
                                          const struct sfb_recording_process *e)
{
    if (e->arguments_size > TEXT_MAX || (e->parent != 0 && !has_process(w, e->parent)))
        return SFB_BAD_ARGUMENT;
    if (!sfb_ids_add(&w->processes, e->id))
        return SFB_BAD_ARGUMENT;
    return sfb_writer_put(w, SFB_EVENT_PROCESS, sfb_body_process, e);
}

enum sfb_status sfb_recording_put_process_end(struct sfb_recording_writer *w,
                                              const struct sfb_recording_process_end *e)
{
    if (!has_process(w, e->id))
        return SFB_BAD_ARGUMENT;
    if (w->error == 0)
        sfb_heap_writer_flush(w, e->id); /* events before the end */
    return put_end(w, SFB_EVENT_PROCESS_END, sfb_body_process_end, e, e->id <= w->last_process);
}

enum sfb_status sfb_recording_put_thread(struct sfb_recording_writer *w,
                                         const struct sfb_recording_thread *e)
{
    if (!has_process(w, e->process) || (!has_thread(w, e->id) && !sfb_ids_add(&w->threads, e->id)))
        return SFB_BAD_ARGUMENT;
    return sfb_writer_put(w, SFB_EVENT_THREAD, sfb_body_thread, e);
}

enum sfb_status sfb_recording_put_thread_end(struct sfb_recording_writer *w,
                                             const struct sfb_recording_thread_end *e)
{
    if (!has_thread(w, e->id))
        return SFB_BAD_ARGUMENT;
    return put_end(w, SFB_EVENT_THREAD_END, sfb_body_thread_end, e, e->id <= w->last_thread);
}

enum sfb_status sfb_recording_put_modules(struct sfb_recording_writer *w,
                                          const struct sfb_recording_modules *e)
{
    if (!has_process(w, e->process) || e->size > TEXT_MAX)
        return SFB_BAD_ARGUMENT;
    return sfb_writer_put(w, SFB_EVENT_MODULES, sfb_body_modules, e);
}

enum sfb_status sfb_recording_put_losses(struct sfb_recording_writer *w,
                                         const struct sfb_recording_losses *e)
{
    if ((e->process != 0 && !has_process(w, e->process)) ||
        (e->thread != 0 && !has_thread(w, e->thread)))
        return SFB_BAD_ARGUMENT;
    return put_end(w, SFB_EVENT_LOSSES, sfb_body_losses, e,
                   e->process <= w->last_process && e->thread <= w->last_thread);
}

enum sfb_status sfb_recording_put_sample(struct sfb_recording_writer *w,
                                         const struct sfb_recording_sample *e)
{
    if (!has_thread(w, e->thread) || e->stack >= w->events.first_stack + w->events.stacks ||
        e->engine > RECORDING_ENGINE_MAX)
        return SFB_BAD_ARGUMENT;
    if (w->error != 0)
        return SFB_NO_RESOURCE;
    sfb_events_put_sample(&w->events, e);
    return sfb_writer_flush_if_full(w);
}

static bool has_awaited(const struct sfb_recording_writer *w, const struct sfb_recording_wait *e)
{
    if (e->awaited == 0)
        return e->holder == 0 && e->holder_stack == 0;
    return sfb_ids_has(&w->awaited, e->awaited) && (e->holder == 0 || has_thread(w, e->holder)) &&
           e->holder_stack < w->events.first_stack + w->events.stacks;
}

static bool has_waker(const struct sfb_recording_writer *w, const struct sfb_recording_wait *e)
{
    if (e->waker_name != NULL && strlen(e->waker_name) > TEXT_MAX)
        return false;
    if (e->waker == 0)
        return e->waker_stack == 0;
    return has_thread(w, e->waker) && e->waker_stack < w->events.first_stack + w->events.stacks;
}

enum sfb_status sfb_recording_put_wait(struct sfb_recording_writer *w,
                                       const struct sfb_recording_wait *e)
{
    if (!has_thread(w, e->thread) || e->stack >= w->events.first_stack + w->events.stacks ||
        (e->call && strlen(e->call) > TEXT_MAX) || !has_awaited(w, e) || !has_waker(w, e))
        return SFB_BAD_ARGUMENT;
    if (w->error != 0)
        return SFB_NO_RESOURCE;
    sfb_events_put_wait(&w->events, e);
    return sfb_writer_flush_if_full(w);
}

enum sfb_status sfb_recording_put_awaited(struct sfb_recording_writer *w,
                                          const struct sfb_recording_awaited *e)
{
    if (!has_process(w, e->process) || e->name == NULL || strlen(e->name) > TEXT_MAX ||
        !sfb_ids_add(&w->awaited, e->id))
        return SFB_BAD_ARGUMENT;
    return sfb_writer_put(w, SFB_EVENT_AWAITED, sfb_body_awaited, e);
}

enum sfb_status sfb_recording_put_mark(struct sfb_recording_writer *w,
                                       const struct sfb_recording_mark *e)
{
    if (e->name == NULL || strlen(e->name) > TEXT_MAX)
        return SFB_BAD_ARGUMENT;
    return sfb_writer_put(w, SFB_EVENT_MARK, sfb_body_mark, e);
}

enum sfb_status sfb_recording_put_pause(struct sfb_recording_writer *w,
                                        const struct sfb_recording_pause *e)
{
    if (e->paused > 1)
        return SFB_BAD_ARGUMENT;
    return sfb_writer_put(w, SFB_EVENT_PAUSE, sfb_body_pause, e);
}

/* Finds or appends a stack, which is known by a key. @param is_new  written */
static enum sfb_status put_stack(struct sfb_recording_writer *w, uint32_t *id,
                                 struct sfb_recording_stack stack, const void *key, size_t key_size,
                                 bool *is_new)
{
    const void *const cbf = stack.cbf;
    const size_t size = stack.size;
    const uint32_t process = stack.process;
    struct sfb_stack_items *items = &w->items;
    enum sfb_status status;

    if (id == NULL || cbf == NULL || size > CBF_MAX || !has_process(w, process))
        return SFB_BAD_ARGUMENT;
    if (w->error != 0)
        return SFB_NO_RESOURCE;
    stack.id = sfb_known_stacks_find(&w->known, process, key, key_size);
    *is_new = stack.id == 0;
    if (stack.id != 0) {
        *id = stack.id;
        return SFB_OK;
    }
    status = sfb_stack_items_read(items, cbf, size);
    if (status != SFB_OK && status != SFB_BUFFER_FULL)
        return SFB_BAD_ARGUMENT;
    if (status == SFB_BUFFER_FULL)
        items = NULL;
    if (w->events.first_stack + w->events.stacks == UINT32_MAX)
        return sfb_writer_fail(w, EOVERFLOW);
    while (!sfb_events_put_stack(&w->events, &stack, items))
        if (sfb_recording_writer_flush(w) != SFB_OK) /* an empty block has room for any stack */
            return SFB_NO_RESOURCE;
    *id = w->events.first_stack + w->events.stacks - 1;
    sfb_known_stacks_add(&w->known, process, key, key_size, *id);
    return sfb_writer_flush_if_full(w);
}

enum sfb_status sfb_recording_put_stack(struct sfb_recording_writer *w, uint32_t *id,
                                        uint32_t process, const void *cbf, size_t size)
{
    bool is_new;

    return put_stack(w, id,
                     (struct sfb_recording_stack){ .process = process, .cbf = cbf, .size = size },
                     cbf, size, &is_new);
}

/* Calls ascend, and are of codes that were put. */
static bool are_frames(const struct sfb_recording_writer *w,
                       const struct sfb_recording_code_frame *frames, size_t count)
{
    if (count > SFB_RECORDING_CODE_FRAMES_MAX || (count > 0 && !frames))
        return false;
    for (size_t i = 0; i < count; i++)
        if ((frames[i].code != 0 && !sfb_ids_has(&w->codes, frames[i].code)) ||
            (i > 0 && frames[i].frame < frames[i - 1].frame))
            return false;
    return true;
}

enum sfb_status sfb_recording_put_stack_of_code(struct sfb_recording_writer *w, uint32_t *id,
                                                uint32_t process, const void *cbf, size_t size,
                                                const struct sfb_recording_code_frames *code)
{
    struct sfb_recording_code_frames event = *code;
    enum sfb_status status;
    bool is_new;

    if (cbf == NULL || size > CBF_MAX || !are_frames(w, code->frames, code->count) ||
        code->gil > SFB_GIL_RELEASED)
        return SFB_BAD_ARGUMENT;
    if (code->count == 0 && code->gil == SFB_GIL_UNKNOWN)
        return sfb_recording_put_stack(w, id, process, cbf, size);
    w->key.size = 0;
    sfb_bytes_put(&w->key, cbf, size);
    sfb_bytes_put(&w->key, code->frames, code->count * sizeof *code->frames);
    sfb_bytes_put_uleb(&w->key, code->gil);
    if (w->key.failed)
        return sfb_writer_fail(w, ENOMEM);
    status = put_stack(w, id,
                       (struct sfb_recording_stack){ .process = process, .cbf = cbf, .size = size },
                       w->key.at, w->key.size, &is_new);
    if (status != SFB_OK || !is_new)
        return status;
    event.stack = *id;
    return sfb_writer_put(w, SFB_EVENT_CODE_FRAMES, sfb_body_code_frames, &event);
}

enum sfb_status sfb_recording_put_stack_with_code(struct sfb_recording_writer *w, uint32_t *id,
                                                  uint32_t process, const void *cbf, size_t size,
                                                  const struct sfb_recording_code_frame *frames,
                                                  size_t count)
{
    const struct sfb_recording_code_frames code = { .frames = frames, .count = count };

    return count == 0 ? SFB_BAD_ARGUMENT
                      : sfb_recording_put_stack_of_code(w, id, process, cbf, size, &code);
}

enum sfb_status sfb_recording_put_code(struct sfb_recording_writer *w,
                                       const struct sfb_recording_code *e)
{
    if (!has_process(w, e->process) || e->name == NULL || e->file == NULL ||
        strlen(e->name) > TEXT_MAX / 2 || strlen(e->file) > TEXT_MAX / 2 ||
        !sfb_ids_add(&w->codes, e->id))
        return SFB_BAD_ARGUMENT;
    return sfb_writer_put(w, SFB_EVENT_CODE, sfb_body_code, e);
}

void sfb_recording_forget_stacks(struct sfb_recording_writer *w, uint32_t process)
{
    sfb_known_stacks_forget(&w->known, process);
}

/* A file larger than a block is split into parts, at ends of lines if possible. */
static size_t part_size(const char *bytes, size_t left)
{
    const char *end;

    if (left <= TEXT_MAX)
        return left;
    end = memrchr(bytes, '\n', TEXT_MAX);
    return end != NULL ? (size_t)(end - bytes) + 1 : TEXT_MAX;
}

enum sfb_status sfb_recording_put_file(struct sfb_recording_writer *w,
                                       const struct sfb_recording_file *e)
{
    struct sfb_recording_file part = *e;
    size_t done = 0;

    if (!has_process(w, e->process) || e->name == NULL || (e->bytes == NULL && e->size > 0) ||
        strlen(e->name) > 4096)
        return SFB_BAD_ARGUMENT;
    if (sfb_recording_writer_flush(w) != SFB_OK)
        return SFB_NO_RESOURCE;
    do {
        part.bytes = (const char *)e->bytes + done;
        part.size = part_size(part.bytes, e->size - done);
        w->payload.size = w->block.size = 0;
        sfb_body_file(&w->payload, &part);
        if (sfb_writer_put_block(w, RECORDING_FILE, 0, 1, sfb_writer_size_for_samples(w)) !=
            SFB_OK) {
            w->dropped += e->size - done;
            return SFB_NO_RESOURCE;
        }
        done += part.size;
    } while (done < e->size);
    return SFB_OK;
}

uint64_t sfb_recording_writer_size(const struct sfb_recording_writer *w)
{
    return w->size;
}

uint64_t sfb_recording_writer_samples(const struct sfb_recording_writer *w, uint64_t *weight)
{
    *weight = w->weight;
    return w->samples;
}

uint64_t sfb_recording_writer_waited(const struct sfb_recording_writer *w)
{
    return w->waited;
}

int sfb_recording_writer_errno(const struct sfb_recording_writer *w)
{
    return w->error;
}

/* The file must contain how it ended. A loss that could not be written before is written now if there is room. */
static enum sfb_status finish(struct sfb_recording_writer *w, uint64_t time, const char *reason)
{
    const struct sfb_recording_losses losses = { .reason = SFB_LOSS_FILE,
                                                 .count = w->dropped,
                                                 .text = w->error == EFBIG
                                                             ? "the limit of its size"
                                                             : strerrordesc_np(w->error) };
    struct sfb_recording_finish end = { .time = time, .reason = reason };

    sfb_heap_writer_flush_totals(w);
    if (w->error != 0)
        sfb_events_put(&w->events, SFB_EVENT_LOSSES, sfb_body_losses, &losses);
    end.samples = w->samples + w->events.samples;
    end.weight = w->weight + w->events.weight;
    sfb_events_put(&w->events, SFB_EVENT_FINISH, sfb_body_finish, &end);
    return sfb_writer_flush_to(w, w->max_size);
}

enum sfb_status sfb_recording_writer_close(struct sfb_recording_writer *w, uint64_t time,
                                           const char *reason)
{
    enum sfb_status status = w->error == 0 ? sfb_recording_writer_flush(w) : SFB_NO_RESOURCE;

    if (reason != NULL && finish(w, time, reason) == SFB_OK && w->error == EFBIG)
        status = SFB_OK;
    release(w);
    return status;
}
