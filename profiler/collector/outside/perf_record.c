#include "profiler/collector/outside/perf_record.h"

#include <string.h>

#include "base/reader.h"

static struct sfb_reader reader_of(const struct perf_record *record)
{
    return (struct sfb_reader){ .pos = record->bytes, .left = record->size };
}

/* --- Samples --------------------------------------------------------------------------------------- */

/* The fields before the first one that no id is in. */
static void read_first(struct sfb_reader *r, uint64_t type, struct perf_sample *out)
{
    struct perf_ids *ids = &out->ids;

    if (type & PERF_SAMPLE_IDENTIFIER)
        ids->id = sfb_reader_u64(r);
    if (type & PERF_SAMPLE_IP)
        out->ip = sfb_reader_u64(r);
    if (type & PERF_SAMPLE_TID) {
        ids->pid = sfb_reader_u32(r);
        ids->tid = sfb_reader_u32(r);
    }
    if (type & PERF_SAMPLE_TIME)
        ids->time = sfb_reader_u64(r);
    if (type & PERF_SAMPLE_ADDR)
        sfb_reader_skip(r, sizeof(uint64_t));
    if (type & PERF_SAMPLE_ID)
        ids->id = sfb_reader_u64(r);
    if (type & PERF_SAMPLE_STREAM_ID)
        ids->stream = sfb_reader_u64(r);
    if (type & PERF_SAMPLE_CPU) {
        ids->cpu = sfb_reader_u32(r);
        sfb_reader_skip(r, sizeof(uint32_t));
    }
    if (type & PERF_SAMPLE_PERIOD)
        out->period = sfb_reader_u64(r);
}

/* PERF_FORMAT_LOST: headers before Linux 6.0 have not heard of it. */
enum { FORMAT_LOST = 16 };

static uint64_t bits(uint64_t mask)
{
    return (uint64_t)__builtin_popcountll(mask);
}

/* "The value of the counter": of a group, of the first one that has our id. */
static void read_counts(struct sfb_reader *r, uint64_t format, struct perf_sample *out)
{
    const uint64_t times =
        bits(format & (PERF_FORMAT_TOTAL_TIME_ENABLED | PERF_FORMAT_TOTAL_TIME_RUNNING));
    const uint64_t behind = bits(format & (PERF_FORMAT_ID | FORMAT_LOST));

    if (!(format & PERF_FORMAT_GROUP)) {
        out->count = sfb_reader_u64(r);
        sfb_reader_skip(r, (times + behind) * sizeof(uint64_t));
        return;
    }
    {
        const uint64_t count = sfb_reader_u64(r);

        sfb_reader_skip(r, times * sizeof(uint64_t));
        if (count > r->left / ((1 + behind) * sizeof(uint64_t)))
            r->failed = true;
        else
            sfb_reader_skip(r, count * (1 + behind) * sizeof(uint64_t));
    }
}

static void read_chain(struct sfb_reader *r, struct perf_sample *out)
{
    const uint64_t count = sfb_reader_u64(r);

    if (count > r->left / sizeof(uint64_t)) {
        r->failed = true;
        return;
    }
    out->chain = r->pos;
    out->chain_count = (size_t)count;
    sfb_reader_skip(r, count * sizeof(uint64_t));
}

static void read_raw(struct sfb_reader *r, struct perf_sample *out)
{
    out->raw_size = sfb_reader_u32(r);
    out->raw = r->pos;
    sfb_reader_skip(r, out->raw_size);
}

static void read_registers(struct sfb_reader *r, uint64_t mask, struct perf_sample *out)
{
    out->abi = sfb_reader_u64(r);
    if (out->abi == PERF_SAMPLE_REGS_ABI_NONE)
        return;
    out->registers = r->pos;
    sfb_reader_skip(r, bits(mask) * sizeof(uint64_t));
}

static void read_stack(struct sfb_reader *r, struct perf_sample *out)
{
    const uint64_t size = sfb_reader_u64(r);
    uint64_t readable;

    if (size == 0)
        return;
    out->stack = r->pos;
    sfb_reader_skip(r, size);
    readable = sfb_reader_u64(r);
    out->stack_room = (size_t)size;
    out->stack_size = (size_t)(readable < size ? readable : size);
}

bool perf_sample_read(struct perf_sample *out, const struct perf_layout *layout,
                      const struct perf_record *record)
{
    struct sfb_reader r = reader_of(record);
    const uint64_t type = layout->sample_type;

    *out = (struct perf_sample){ .abi = PERF_SAMPLE_REGS_ABI_NONE };
    read_first(&r, type, out);
    if (type & PERF_SAMPLE_READ)
        read_counts(&r, layout->read_format, out);
    if (type & PERF_SAMPLE_CALLCHAIN)
        read_chain(&r, out);
    if (type & PERF_SAMPLE_RAW)
        read_raw(&r, out);
    if (type & PERF_SAMPLE_BRANCH_STACK)
        return false;
    if (type & PERF_SAMPLE_REGS_USER)
        read_registers(&r, layout->registers, out);
    if (type & PERF_SAMPLE_STACK_USER)
        read_stack(&r, out);
    return !r.failed;
}

uint64_t perf_chain_at(const struct perf_sample *sample, size_t index)
{
    uint64_t address;

    memcpy(&address, sample->chain + index * sizeof address, sizeof address);
    return address;
}

/* --- The ids of other records ---------------------------------------------------------------------- */

static size_t ids_size(uint64_t type)
{
    const uint64_t each = PERF_SAMPLE_TID | PERF_SAMPLE_TIME | PERF_SAMPLE_ID |
                          PERF_SAMPLE_STREAM_ID | PERF_SAMPLE_CPU | PERF_SAMPLE_IDENTIFIER;

    return (size_t)bits(type & each) * sizeof(uint64_t);
}

bool perf_ids_read(struct perf_ids *out, const struct perf_layout *layout,
                   const struct perf_record *record)
{
    const uint64_t type = layout->sample_type;
    const size_t size = ids_size(type);
    struct sfb_reader r = reader_of(record);

    *out = (struct perf_ids){ .id = 0 };
    if (record->type == PERF_RECORD_SAMPLE) {
        struct perf_sample sample = { .count = 0 };

        read_first(&r, type, &sample);
        *out = sample.ids;
        return !r.failed;
    }
    if (!layout->ids || size > r.left)
        return false;
    sfb_reader_skip(&r, r.left - size);
    if (type & PERF_SAMPLE_TID) {
        out->pid = sfb_reader_u32(&r);
        out->tid = sfb_reader_u32(&r);
    }
    if (type & PERF_SAMPLE_TIME)
        out->time = sfb_reader_u64(&r);
    if (type & PERF_SAMPLE_ID)
        out->id = sfb_reader_u64(&r);
    if (type & PERF_SAMPLE_STREAM_ID)
        out->stream = sfb_reader_u64(&r);
    if (type & PERF_SAMPLE_CPU) {
        out->cpu = sfb_reader_u32(&r);
        sfb_reader_skip(&r, sizeof(uint32_t));
    }
    if (type & PERF_SAMPLE_IDENTIFIER)
        out->id = sfb_reader_u64(&r);
    return !r.failed;
}

/* --- Other records --------------------------------------------------------------------------------- */

/* @return a text that ends within the record; NULL: it does not */
static const char *text_of(struct sfb_reader *r)
{
    const char *text = (const char *)r->pos;

    return !r->failed && memchr(text, '\0', r->left) ? text : NULL;
}

/* PROT_EXEC, and a build-id in place of device and inode. */
enum { EXECUTABLE = 4, BUILD_ID_MAX = 20 };
#ifndef PERF_RECORD_MISC_MMAP_BUILD_ID
#define PERF_RECORD_MISC_MMAP_BUILD_ID (1 << 14)
#endif

static void read_file(struct sfb_reader *r, const struct perf_record *record, struct perf_mmap *out)
{
    if (record->misc & PERF_RECORD_MISC_MMAP_BUILD_ID) {
        const uint8_t size = sfb_reader_u8(r);

        sfb_reader_skip(r, 3);
        out->build_id = r->pos;
        out->build_id_size = size <= BUILD_ID_MAX ? size : 0;
        sfb_reader_skip(r, BUILD_ID_MAX);
    } else {
        out->device[0] = sfb_reader_u32(r);
        out->device[1] = sfb_reader_u32(r);
        out->inode = sfb_reader_u64(r);
        sfb_reader_skip(r, sizeof(uint64_t));
    }
    out->executable = sfb_reader_u32(r) & EXECUTABLE;
    sfb_reader_skip(r, sizeof(uint32_t));
}

bool perf_mmap_read(struct perf_mmap *out, const struct perf_record *record)
{
    struct sfb_reader r = reader_of(record);

    *out = (struct perf_mmap){ .executable = !(record->misc & PERF_RECORD_MISC_MMAP_DATA) };
    out->pid = sfb_reader_u32(&r);
    out->tid = sfb_reader_u32(&r);
    out->start = sfb_reader_u64(&r);
    out->size = sfb_reader_u64(&r);
    out->offset = sfb_reader_u64(&r);
    if (record->type == PERF_RECORD_MMAP2)
        read_file(&r, record, out);
    out->path = text_of(&r);
    return out->path != NULL;
}

bool perf_comm_read(struct perf_comm *out, const struct perf_record *record)
{
    struct sfb_reader r = reader_of(record);

    out->pid = sfb_reader_u32(&r);
    out->tid = sfb_reader_u32(&r);
    out->exec = record->misc & PERF_RECORD_MISC_COMM_EXEC;
    out->name = text_of(&r);
    return out->name != NULL;
}

bool perf_task_read(struct perf_task *out, const struct perf_record *record)
{
    struct sfb_reader r = reader_of(record);

    out->pid = sfb_reader_u32(&r);
    out->parent_pid = sfb_reader_u32(&r);
    out->tid = sfb_reader_u32(&r);
    out->parent_tid = sfb_reader_u32(&r);
    return !r.failed;
}

bool perf_read_read(struct perf_read *out, const struct perf_record *record)
{
    struct sfb_reader r = reader_of(record);

    out->pid = sfb_reader_u32(&r);
    out->tid = sfb_reader_u32(&r);
    out->count = sfb_reader_u64(&r);
    return !r.failed;
}

bool perf_lost_read(uint64_t *out, const struct perf_record *record)
{
    struct sfb_reader r = reader_of(record);

    if (record->type == PERF_RECORD_LOST)
        sfb_reader_skip(&r, sizeof(uint64_t));
    *out = sfb_reader_u64(&r);
    return !r.failed;
}
