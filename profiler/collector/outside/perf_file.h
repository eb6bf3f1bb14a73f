/*
 * Files of `perf record`, and its output in a pipe: tools/perf/Documentation/perf.data-file-format.txt of Linux. No byte of
 * them is trusted.
 */
#ifndef PROFILER_COLLECTOR_OUTSIDE_PERF_FILE_H
#define PROFILER_COLLECTOR_OUTSIDE_PERF_FILE_H

#include "profiler/collector/outside/perf_record.h"
#include "util/array.h"
#include "util/index.h"
#include "util/strings.h"

struct perf_file_event {
    struct perf_layout layout;
    uint32_t type;   /* PERF_TYPE_* */
    uint64_t config; /* with type: which event */
    uint64_t period; /* counts, or samples a second */
    bool is_frequency, user_only;
};

/* The build-id of a file, by its path. */
struct perf_file_id {
    const char *path;
    const uint8_t *bytes;
    size_t size;
};

struct perf_file_entry {
    uint64_t time;
    size_t offset; /* of the record */
};

struct perf_file {
    const uint8_t *data; /* borrowed */
    size_t size;
    REPORT_ARRAY(struct perf_file_event) events;
    REPORT_ARRAY(struct perf_file_id) ids;
    struct report_strings paths;                  /* of them: the numbers are theirs */
    REPORT_ARRAY(struct perf_file_entry) entries; /* of the kernel's records, by time */
    struct report_index by_id;                    /* of events; not all have ids */
    const char *host, *machine;                   /* may be NULL */
    bool cut;        /* damaged: it ends within a record, or in other bytes */
    bool compressed; /* with records that are packed, and not read */
};

/* Whether bytes begin such a file. */
bool perf_file_is(const uint8_t *data, size_t size);

/*
 * @param out  to be freed in any case
 * @return NULL, or why it cannot be read
 */
const char *perf_file_read(struct perf_file *out, const uint8_t *data, size_t size);

/* The record of an entry. */
struct perf_record perf_file_record(const struct perf_file *file,
                                    const struct perf_file_entry *entry);

/* The event of a record: by its id, else the first one. */
const struct perf_file_event *perf_file_event_of(const struct perf_file *file,
                                                 const struct perf_record *record,
                                                 struct perf_ids *ids);

/* @return the build-id of a path; NULL: not in the file's list */
const struct perf_file_id *perf_file_build_id(struct perf_file *file, const char *path);

void perf_file_free(struct perf_file *file);

#endif
