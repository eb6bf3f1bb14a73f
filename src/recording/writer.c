/*
 * Events to blocks, blocks to the file.
 *
 * There is one open block of events, so that the order of the file is the order of the calls: a thread before its
 * samples, a module list before the samples to be read with it. Its columns and the tree of its stacks make it small.
 *
 * A block goes out with one write(2), and where that fails the file is cut back to its last whole block.
 */
#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "recording/block.h"
#include "recording/bodies_put.h"
#include "recording/crc32c.h"
#include "recording/events.h"
#include "recording/ids.h"
#include "recording/known_stacks.h"
#include "recording/packer.h"
#include "sfb/recording.h"

enum {
    BLOCK_SIZE = 256 << 10, /* before it is packed, about */
    SMALLEST = 512,         /* near the limit: half of it is for the header and the last event */
    TEXT_MAX = 8 << 20,     /* of what is variable in an event */
    CBF_MAX = 1 << 20,
    RESERVE = 16 << 10 /* of max_size, for how the recording ended */
};

struct sfb_recording_writer {
    int fd;
    int error;
    const struct sfb_recording_packer *packer;
    void *packer_state;
    uint64_t max_size;
    uint64_t size;
    uint64_t records;         /* in the file */
    uint64_t samples, weight; /* in the file */
    uint64_t dropped;         /* bytes of payloads that are not */
    struct sfb_events events;
    struct sfb_bytes block; /* header, then payload: what write(2) is given */
    struct sfb_bytes payload;
    struct sfb_known_stacks known;
    struct sfb_ids processes, threads;
    uint32_t last_process, last_thread; /* introduced in the file, not only in memory */
    struct sfb_stack_items items;
};

static bool write_all(int fd, const uint8_t *at, size_t size, uint64_t *written)
{
    while (size > 0) {
        const ssize_t n = write(fd, at, size);

        if (n < 0 && errno == EINTR)
            continue;
        if (n <= 0) {
            errno = n == 0 ? ENOSPC : errno;
            return false;
        }
        at += n;
        size -= (size_t)n;
        *written += (uint64_t)n;
    }
    return true;
}

static enum sfb_status fail(struct sfb_recording_writer *w, int error)
{
    if (w->error == 0)
        w->error = error;
    return SFB_NO_RESOURCE;
}

/* Writes what is in w->block. */
static enum sfb_status write_block(struct sfb_recording_writer *w)
{
    uint64_t written = 0;

    if (write_all(w->fd, w->block.at, w->block.size, &written)) {
        w->size += w->block.size;
        return SFB_OK;
    }
    fail(w, errno);
    /* Half a block would be read as damage. A pipe keeps it: then nobody can read it again, either. */
    if (written > 0 && ftruncate(w->fd, (off_t)w->size) == 0)
        lseek(w->fd, (off_t)w->size, SEEK_SET);
    return SFB_NO_RESOURCE;
}

/* Puts the payload behind room for the header, packed if that makes it smaller. @return its flags */
static uint32_t put_payload(struct sfb_recording_writer *w)
{
    const size_t size = w->payload.size;
    uint8_t *out;
    size_t packed = 0;

    sfb_bytes_add(&w->block, RECORDING_BLOCK_HEADER_SIZE);
    out = sfb_bytes_add(&w->block, size);
    if (out == NULL)
        return 0;
    if (w->packer != NULL && size > 1)
        packed = w->packer->pack(w->packer_state, out, size - 1, w->payload.at, size);
    if (packed == 0) {
        memcpy(out, w->payload.at, size);
        return 0;
    }
    w->block.size -= size - packed;
    return w->packer->flag;
}

/* Appends w->payload as a block. */
static enum sfb_status put_block(struct sfb_recording_writer *w, uint32_t type, uint32_t flags,
                                 uint32_t records, uint64_t max_size)
{
    const size_t before = w->block.size; /* the file's header, if any */
    struct sfb_block block = { .type = type, .sequence = w->records, .records = records };
    const uint8_t *payload;

    block.flags = flags | put_payload(w);
    if (w->payload.failed || w->block.failed)
        return fail(w, ENOMEM);
    payload = w->block.at + before + RECORDING_BLOCK_HEADER_SIZE;
    block.stored = (uint32_t)(w->block.size - before - RECORDING_BLOCK_HEADER_SIZE);
    block.unpacked = (uint32_t)w->payload.size;
    block.crc = sfb_crc32c(0, payload, block.stored);
    sfb_block_write(w->block.at + before, &block);
    if (max_size > 0 && w->size + w->block.size > max_size)
        return fail(w, EFBIG);
    if (write_block(w) != SFB_OK)
        return SFB_NO_RESOURCE;
    w->records += records;
    return SFB_OK;
}

/* What samples may fill of a file that has a limit. */
static uint64_t size_for_samples(const struct sfb_recording_writer *w)
{
    const uint64_t quarter = w->max_size / 4;

    return w->max_size - (quarter < RESERVE ? quarter : RESERVE);
}

static enum sfb_status flush_to(struct sfb_recording_writer *w, uint64_t max_size)
{
    const uint32_t records = w->events.records;
    const uint64_t samples = w->events.samples, weight = w->events.weight;
    const uint32_t flags = w->events.tree != NULL ? RECORDING_COLUMNS : 0;
    enum sfb_status status = SFB_NO_RESOURCE;

    if (records == 0)
        return SFB_OK;
    w->payload.size = w->block.size = 0;
    if (sfb_events_end(&w->events, &w->payload))
        status = put_block(w, RECORDING_EVENTS, flags, records, max_size);
    else
        fail(w, ENOMEM);
    if (status != SFB_OK) {
        w->dropped += w->payload.size;
        return status;
    }
    w->samples += samples;
    w->weight += weight;
    w->last_process = sfb_ids_last(&w->processes);
    w->last_thread = sfb_ids_last(&w->threads);
    return SFB_OK;
}

/*
 * How large a block may grow before it is packed. Near the limit it goes out while it fits even if packing gains nothing:
 * what it gains is room for the next. A block that would be no more than its header is not worth it.
 */
static uint64_t block_size(const struct sfb_recording_writer *w)
{
    const uint64_t most = size_for_samples(w);
    const uint64_t left = most > w->size ? most - w->size : 0;

    return w->max_size == 0 || left < SMALLEST || left - SMALLEST / 2 > BLOCK_SIZE
               ? BLOCK_SIZE
               : left - SMALLEST / 2;
}

static enum sfb_status flush_if_full(struct sfb_recording_writer *w)
{
    return sfb_events_size(&w->events) >= block_size(w) ? flush_to(w, size_for_samples(w)) : SFB_OK;
}

enum sfb_status sfb_recording_writer_flush(struct sfb_recording_writer *w)
{
    if (w->error != 0)
        return SFB_NO_RESOURCE;
    return flush_to(w, size_for_samples(w));
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
        return fail(w, ENOMEM);
    put_file_header(&w->block);
    sfb_body_start(&w->payload, start);
    return put_block(w, RECORDING_START, 0, 1, w->max_size);
}

/* src/base/sized.h says the rule. Its function is not in the shared library, which serves this one, too. */
static enum sfb_status read_options(struct sfb_recording_writer_options *out,
                                    const struct sfb_recording_writer_options *in)
{
    const size_t known = in->size < sizeof *out ? in->size : sizeof *out;

    if (in->size == 0 || in->size % sizeof in->size != 0 || in->size > 4096)
        return SFB_NO_SIZE;
    for (size_t i = known; i < in->size; i++)
        if (((const uint8_t *)in)[i] != 0)
            return SFB_BAD_ARGUMENT;
    memcpy(out, in, known);
    return SFB_OK;
}

enum sfb_status sfb_recording_writer_open(struct sfb_recording_writer **out, int fd,
                                          const struct sfb_recording_start *start,
                                          const struct sfb_recording_writer_options *options)
{
    struct sfb_recording_writer_options o = SFB_RECORDING_WRITER_OPTIONS_INIT;
    struct sfb_recording_writer *w;
    enum sfb_status status;

    if (out == NULL || fd < 0 || start == NULL || start->command_size > TEXT_MAX)
        return SFB_BAD_ARGUMENT;
    if (options != NULL && (status = read_options(&o, options)) != SFB_OK)
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

static enum sfb_status put(struct sfb_recording_writer *w, uint32_t kind, sfb_body_writer *write,
                           const void *event)
{
    if (w->error != 0)
        return SFB_NO_RESOURCE;
    sfb_events_put(&w->events, kind, write, event);
    return flush_if_full(w);
}

/*
 * The same for what says how something ended, when max_size is reached: there is still room for that. Who was
 * introduced only in the block that found none is not in the file.
 */
static enum sfb_status put_end(struct sfb_recording_writer *w, uint32_t kind,
                               sfb_body_writer *write, const void *event, bool is_in_file)
{
    if (w->error == EFBIG) {
        if (is_in_file && w->events.records < 1000)
            sfb_events_put(&w->events, kind, write, event);
        return SFB_OK;
    }
    return put(w, kind, write, event);
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
    return put(w, SFB_EVENT_PROCESS, sfb_body_process, e);
}

enum sfb_status sfb_recording_put_process_end(struct sfb_recording_writer *w,
                                              const struct sfb_recording_process_end *e)
{
    if (!has_process(w, e->id))
        return SFB_BAD_ARGUMENT;
    return put_end(w, SFB_EVENT_PROCESS_END, sfb_body_process_end, e, e->id <= w->last_process);
}

enum sfb_status sfb_recording_put_thread(struct sfb_recording_writer *w,
                                         const struct sfb_recording_thread *e)
{
    if (!has_process(w, e->process) || (!has_thread(w, e->id) && !sfb_ids_add(&w->threads, e->id)))
        return SFB_BAD_ARGUMENT;
    return put(w, SFB_EVENT_THREAD, sfb_body_thread, e);
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
    return put(w, SFB_EVENT_MODULES, sfb_body_modules, e);
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
    return flush_if_full(w);
}

enum sfb_status sfb_recording_put_stack(struct sfb_recording_writer *w, uint32_t *id,
                                        uint32_t process, const void *cbf, size_t size)
{
    struct sfb_recording_stack stack = { .process = process, .cbf = cbf, .size = size };
    struct sfb_stack_items *items = &w->items;
    enum sfb_status status;

    if (id == NULL || cbf == NULL || size > CBF_MAX || !has_process(w, process))
        return SFB_BAD_ARGUMENT;
    if (w->error != 0)
        return SFB_NO_RESOURCE;
    stack.id = sfb_known_stacks_find(&w->known, process, cbf, size);
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
        return fail(w, EOVERFLOW);
    while (!sfb_events_put_stack(&w->events, &stack, items))
        if (sfb_recording_writer_flush(w) != SFB_OK) /* an empty block has room for any */
            return SFB_NO_RESOURCE;
    *id = w->events.first_stack + w->events.stacks - 1;
    sfb_known_stacks_add(&w->known, process, cbf, size, *id);
    return flush_if_full(w);
}

void sfb_recording_forget_stacks(struct sfb_recording_writer *w, uint32_t process)
{
    sfb_known_stacks_forget(&w->known, process);
}

/* A file that is larger than a block may be comes in parts, which end with a line where there is one. */
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
        if (put_block(w, RECORDING_FILE, 0, 1, size_for_samples(w)) != SFB_OK) {
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

int sfb_recording_writer_errno(const struct sfb_recording_writer *w)
{
    return w->error;
}

/* How it ended has to be in the file: what could not be written says so itself, if there is room for that now. */
static enum sfb_status finish(struct sfb_recording_writer *w, uint64_t time, const char *reason)
{
    const struct sfb_recording_losses losses = { .reason = SFB_LOSS_FILE,
                                                 .count = w->dropped,
                                                 .text = w->error == EFBIG
                                                             ? "the limit of its size"
                                                             : strerrordesc_np(w->error) };
    struct sfb_recording_finish end = { .time = time, .reason = reason };

    if (w->error != 0)
        sfb_events_put(&w->events, SFB_EVENT_LOSSES, sfb_body_losses, &losses);
    end.samples = w->samples + w->events.samples;
    end.weight = w->weight + w->events.weight;
    sfb_events_put(&w->events, SFB_EVENT_FINISH, sfb_body_finish, &end);
    return flush_to(w, w->max_size);
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
