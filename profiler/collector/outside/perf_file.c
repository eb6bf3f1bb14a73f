#include "profiler/collector/outside/perf_file.h"

#include <stdlib.h>
#include <string.h>

#include "base/reader.h"

/* "PERFILE2" as its machine writes it. */
static const char magic[] = "PERFILE2", swapped[] = "2ELIFREP";

/* Records of perf itself, beside the kernel's. */
enum {
    HEADER_ATTR = 64,
    HEADER_TRACING_DATA = 66,
    HEADER_BUILD_ID = 67,
    AUXTRACE = 71,
    HEADER_FEATURE = 80,
    COMPRESSED = 81,
    COMPRESSED2 = 83
};

/* Numbers of sections behind the data. */
enum { FEATURE_BUILD_ID = 2, FEATURE_HOST = 3, FEATURE_ARCH = 6, FEATURES = 256 };

enum {
    RECORD_HEADER = 8,
    FILE_HEADER = 104,
    PIPE_HEADER = 16,
    ATTR_SIZE_MIN = 64, /* PERF_ATTR_SIZE_VER0 */
    ID_ROOM = 24,       /* of a build-id, in records about it */
    ID_SIZE_AT = 20,
    MISC_ID_SIZE = 1 << 15
};

struct part {
    uint64_t offset, size;
};

static struct part read_part(struct sfb_reader *r)
{
    struct part part;

    part.offset = sfb_reader_u64(r);
    part.size = sfb_reader_u64(r);
    return part;
}

/* @return a window on a part of the file; failed: it is not wholly there */
static struct sfb_reader window(const struct perf_file *f, struct part part)
{
    struct sfb_reader r = { .failed = true };

    if (part.offset <= f->size && part.size <= f->size - part.offset)
        r = (struct sfb_reader){ .pos = f->data + part.offset, .left = (size_t)part.size };
    return r;
}

bool perf_file_is(const uint8_t *data, size_t size)
{
    return size >= PIPE_HEADER && (memcmp(data, magic, sizeof magic - 1) == 0 ||
                                   memcmp(data, swapped, sizeof swapped - 1) == 0);
}

/* --- Events -------------------------------------------------------------------------------------- */

/* Reads what a struct perf_event_attr says; one of a later kernel is longer. */
static bool read_attr(struct sfb_reader attr, struct perf_file_event *out)
{
    struct perf_event_attr a = { .size = 0 };
    const size_t size = attr.left < sizeof a ? attr.left : sizeof a;

    if (attr.failed || size < ATTR_SIZE_MIN || !sfb_reader_copy(&attr, &a, size))
        return false;
    *out = (struct perf_file_event){
        .layout = { a.sample_type, a.read_format, a.sample_regs_user, a.sample_id_all },
        .type = a.type,
        .config = a.config,
        .period = a.sample_period,
        .is_frequency = a.freq,
        .user_only = a.exclude_kernel,
    };
    return true;
}

/* @return false: no memory */
static bool add_event(struct perf_file *f, const struct perf_file_event *event,
                      struct sfb_reader ids)
{
    const uint32_t number = (uint32_t)f->events.count;
    struct perf_file_event *next = REPORT_NEXT(f->events);

    if (!next)
        return false;
    *next = *event;
    while (!ids.failed && ids.left >= sizeof(uint64_t)) {
        uint32_t known;
        bool found;

        if (!report_index_find(&f->by_id, sfb_reader_u64(&ids), 0, number, &known, &found))
            return false;
    }
    return true;
}

static const char *read_events(struct perf_file *f, struct part attrs, uint64_t attr_size)
{
    struct sfb_reader r = window(f, attrs);

    if (r.failed || attr_size < ATTR_SIZE_MIN + sizeof(struct part) || attr_size > UINT16_MAX)
        return "its list of events is damaged";
    while (r.left >= attr_size) {
        struct sfb_reader attr = { .pos = r.pos, .left = (size_t)attr_size - sizeof(struct part) };
        struct perf_file_event event;
        struct part ids;

        sfb_reader_skip(&r, attr_size - sizeof(struct part));
        ids = read_part(&r);
        if (read_attr(attr, &event) && !add_event(f, &event, window(f, ids)))
            return "out of memory";
    }
    return NULL;
}

/* Of a pipe: the struct, which says its own size, and then ids. */
static bool take_attr(struct perf_file *f, const struct perf_record *record)
{
    enum { SIZE_AT = 4 };
    struct sfb_reader r = { .pos = record->bytes, .left = record->size }, attr = r;
    struct perf_file_event event;
    uint32_t size;

    sfb_reader_skip(&r, SIZE_AT);
    size = sfb_reader_u32(&r);
    if (r.failed || size > record->size)
        return true;
    attr.left = size;
    r = (struct sfb_reader){ .pos = record->bytes + size, .left = record->size - size };
    return !read_attr(attr, &event) || add_event(f, &event, r);
}

/* --- Build-ids, and what else there is to say ------------------------------------------------------ */

/* @return false: no memory */
static bool take_build_id(struct perf_file *f, const struct perf_record *record)
{
    struct sfb_reader r = { .pos = record->bytes, .left = record->size };
    struct perf_file_id *next;
    const uint8_t *bytes;
    uint32_t number;
    size_t size;

    sfb_reader_skip(&r, sizeof(uint32_t)); /* a pid */
    bytes = r.pos;
    sfb_reader_skip(&r, ID_ROOM);
    if (r.failed || !memchr(r.pos, '\0', r.left))
        return true;
    size = record->misc & MISC_ID_SIZE ? bytes[ID_SIZE_AT] : ID_SIZE_AT;
    if (size == 0 || size > ID_SIZE_AT)
        return true;
    if (!report_strings_add(&f->paths, (const char *)r.pos, &number))
        return false;
    if (number != f->ids.count) /* the first one is right */
        return number < f->ids.count;
    next = REPORT_NEXT(f->ids);
    if (next)
        *next = (struct perf_file_id){ (const char *)r.pos, bytes, size };
    return next != NULL;
}

/* A length, and a text that ends in a zero. */
static const char *text_of(struct sfb_reader r)
{
    const uint32_t size = sfb_reader_u32(&r);

    return !r.failed && size <= r.left && memchr(r.pos, '\0', size) ? (const char *)r.pos : NULL;
}

/* @return false: no record begins here */
static bool record_at(const struct sfb_reader *r, struct perf_record *out, size_t *size)
{
    struct sfb_reader header = *r;

    out->type = sfb_reader_u32(&header);
    out->misc = sfb_reader_u16(&header);
    *size = sfb_reader_u16(&header);
    if (header.failed || *size < RECORD_HEADER || *size > r->left)
        return false;
    out->bytes = header.pos;
    out->size = *size - RECORD_HEADER;
    return true;
}

static bool read_build_ids(struct perf_file *f, struct sfb_reader r)
{
    struct perf_record record;
    size_t size;

    while (!r.failed && record_at(&r, &record, &size)) {
        if (!take_build_id(f, &record))
            return false;
        sfb_reader_skip(&r, size);
    }
    return true;
}

/* @return false: no memory */
static bool take_feature(struct perf_file *f, unsigned number, struct sfb_reader r)
{
    switch (number) {
    case FEATURE_BUILD_ID: return read_build_ids(f, r);
    case FEATURE_HOST: f->host = text_of(r); break;
    case FEATURE_ARCH: f->machine = text_of(r); break;
    default: break;
    }
    return true;
}

/* They follow the data: a list of parts, one for each bit that is set. */
static bool read_features(struct perf_file *f, struct part data, const uint64_t *bits)
{
    struct sfb_reader r = { .failed = true };

    if (data.offset <= f->size && data.size <= f->size - data.offset)
        r = (struct sfb_reader){ .pos = f->data + data.offset + data.size,
                                 .left = f->size - (size_t)(data.offset + data.size) };
    for (unsigned i = 0; i < FEATURES && !r.failed; i++)
        if (bits[i / 64] >> i % 64 & 1) {
            const struct part part = read_part(&r);

            if (!r.failed && !take_feature(f, i, window(f, part)))
                return false;
        }
    return true;
}

/* --- Records ------------------------------------------------------------------------------------- */

const struct perf_file_event *perf_file_event_of(const struct perf_file *f,
                                                 const struct perf_record *record,
                                                 struct perf_ids *ids)
{
    const struct perf_file_event *first = &f->events.at[0];
    uint32_t number;

    if (!perf_ids_read(ids, &first->layout, record))
        return first;
    return ids->id != 0 && report_index_has(&f->by_id, ids->id, 0, &number) ? &f->events.at[number]
                                                                            : first;
}

/* @return false: no memory */
static bool add_entry(struct perf_file *f, const struct perf_record *record)
{
    struct perf_file_entry *next;
    struct perf_ids ids;

    if (f->events.count == 0)
        return true;
    next = REPORT_NEXT(f->entries);
    if (!next)
        return false;
    perf_file_event_of(f, record, &ids);
    next->time = ids.time;
    next->offset = (size_t)(record->bytes - f->data) - RECORD_HEADER;
    return true;
}

/* Bytes behind a record that its size does not count. */
static uint64_t bytes_behind(const struct perf_record *record)
{
    struct sfb_reader r = { .pos = record->bytes, .left = record->size };

    return record->type == AUXTRACE              ? sfb_reader_u64(&r)
           : record->type == HEADER_TRACING_DATA ? (uint64_t)sfb_reader_u32(&r)
                                                 : 0;
}

/* @return false: no memory */
static bool take_record(struct perf_file *f, const struct perf_record *record)
{
    struct sfb_reader r = { .pos = record->bytes, .left = record->size };

    switch (record->type) {
    case HEADER_ATTR: return take_attr(f, record);
    case HEADER_BUILD_ID: return take_build_id(f, record);
    case HEADER_FEATURE: {
        const uint64_t number = sfb_reader_u64(&r);

        return r.failed || number >= FEATURES || take_feature(f, (unsigned)number, r);
    }
    case COMPRESSED:
    case COMPRESSED2: f->compressed = true; return true;
    default: return record->type >= HEADER_ATTR || add_entry(f, record);
    }
}

static bool read_records(struct perf_file *f, struct sfb_reader r)
{
    struct perf_record record;
    size_t size;

    while (r.left > 0 && record_at(&r, &record, &size)) {
        if (!take_record(f, &record))
            return false;
        sfb_reader_skip(&r, size);
        sfb_reader_skip(&r, bytes_behind(&record));
    }
    f->cut |= r.failed || r.left > 0;
    return true;
}

static int by_time(const void *a, const void *b)
{
    const struct perf_file_entry *x = a, *y = b;

    if (x->time != y->time)
        return x->time < y->time ? -1 : 1;
    return x->offset < y->offset ? -1 : x->offset > y->offset;
}

/* What the file's header leads to. A `perf record` that was killed has left a size of 0. */
static const char *read_whole(struct perf_file *f, struct sfb_reader *r)
{
    const uint64_t attr_size = sfb_reader_u64(r);
    const struct part attrs = read_part(r);
    struct part data = read_part(r);
    uint64_t bits[FEATURES / 64];
    const char *cause;

    read_part(r);
    for (size_t i = 0; i < FEATURES / 64; i++)
        bits[i] = sfb_reader_u64(r);
    if (r->failed)
        return "it ends before its header does";
    cause = read_events(f, attrs, attr_size);
    if (cause)
        return cause;
    if (data.offset > f->size || data.size > f->size - data.offset || data.size == 0) {
        f->cut = true;
        data.offset = data.offset <= f->size ? data.offset : f->size;
        data.size = f->size - data.offset;
    }
    return !read_features(f, data, bits) || !read_records(f, window(f, data)) ? "out of memory"
                                                                              : NULL;
}

const char *perf_file_read(struct perf_file *out, const uint8_t *data, size_t size)
{
    struct sfb_reader r = { .pos = data, .left = size };
    const char *cause;
    uint64_t header;

    *out = (struct perf_file){ .data = data, .size = size };
    if (!perf_file_is(data, size))
        return "it is no file of `perf record`";
    if (memcmp(data, magic, sizeof magic - 1) != 0)
        return "it is of a machine of the other byte order";
    sfb_reader_skip(&r, sizeof magic - 1);
    header = sfb_reader_u64(&r);
    if (header == PIPE_HEADER)
        cause = read_records(out, r) ? NULL : "out of memory";
    else
        cause = header < FILE_HEADER ? "its header is damaged" : read_whole(out, &r);
    if (!cause && out->events.count == 0)
        cause = "it has no events";
    if (!cause && out->entries.count > 0)
        qsort(out->entries.at, out->entries.count, sizeof *out->entries.at, by_time);
    return cause;
}

struct perf_record perf_file_record(const struct perf_file *f, const struct perf_file_entry *entry)
{
    const struct sfb_reader r = { .pos = f->data + entry->offset, .left = f->size - entry->offset };
    struct perf_record record = { .type = 0 };
    size_t size;

    record_at(&r, &record, &size);
    return record;
}

const struct perf_file_id *perf_file_build_id(struct perf_file *f, const char *path)
{
    uint32_t number;

    return report_strings_add(&f->paths, path, &number) && number < f->ids.count
               ? &f->ids.at[number]
               : NULL;
}

void perf_file_free(struct perf_file *f)
{
    free(f->events.at);
    free(f->ids.at);
    free(f->entries.at);
    report_strings_free(&f->paths);
    report_index_free(&f->by_id);
}
