/*
 * Records of the kernel's perf events: perf_event_open(2), "MMAP layout". They come in rings, and in the files
 * of `perf record`, where they look the same. No byte of them is trusted.
 */
#ifndef PROFILER_COLLECTOR_OUTSIDE_PERF_RECORD_H
#define PROFILER_COLLECTOR_OUTSIDE_PERF_RECORD_H

#include <linux/perf_event.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* What an event's records look like: of its struct perf_event_attr. */
struct perf_layout {
    uint64_t sample_type, read_format, registers;
    bool ids; /* all records end in the ids of a sample: sample_id_all */
};

/* A record, as it lies there: its header, and what follows. */
struct perf_record {
    uint32_t type;
    uint16_t misc;
    const uint8_t *bytes; /* behind the header; any alignment */
    size_t size;          /* of them */
};

/* Thread, time and event of a record. Zero where the layout has no such field. */
struct perf_ids {
    uint32_t pid, tid, cpu;
    uint64_t time, id, stream;
};

struct perf_sample {
    struct perf_ids ids;
    uint64_t ip, period;
    uint64_t count;           /* of the event, when it was read: PERF_SAMPLE_READ */
    const uint8_t *chain;     /* addresses, and enum perf_callchain_context; any alignment */
    size_t chain_count;       /* of them */
    const uint8_t *raw;       /* fields of a tracepoint; any alignment */
    size_t raw_size;          /* of them, and of what pads them */
    uint64_t abi;             /* of the registers */
    const uint8_t *registers; /* values, by the layout's mask; NULL: none */
    const uint8_t *stack;     /* from sp on */
    size_t stack_size;        /* as far as it could be read */
    size_t stack_room;        /* as was asked for */
};

/* PERF_RECORD_MMAP, and MMAP2. */
struct perf_mmap {
    uint32_t pid, tid;
    uint64_t start, size, offset;
    bool executable;
    uint64_t inode; /* 0: not known */
    uint32_t device[2];
    const uint8_t *build_id;
    size_t build_id_size; /* 0: not known */
    const char *path;     /* ends in a zero, within the record */
};

/* PERF_RECORD_COMM */
struct perf_comm {
    uint32_t pid, tid;
    const char *name; /* ends in a zero, within the record */
    bool exec;
};

/* PERF_RECORD_FORK and _EXIT */
struct perf_task {
    uint32_t pid, parent_pid, tid, parent_tid;
};

/* @return false: bytes are missing */
bool perf_sample_read(struct perf_sample *out, const struct perf_layout *layout,
                      const struct perf_record *record);
bool perf_mmap_read(struct perf_mmap *out, const struct perf_record *record);
bool perf_comm_read(struct perf_comm *out, const struct perf_record *record);
bool perf_task_read(struct perf_task *out, const struct perf_record *record);

/* PERF_RECORD_READ: what an event counted in a thread that has ended. Of events that read nothing else. */
struct perf_read {
    uint32_t pid, tid;
    uint64_t count;
};

bool perf_read_read(struct perf_read *out, const struct perf_record *record);

/* Records that were dropped, by PERF_RECORD_LOST and _LOST_SAMPLES. */
bool perf_lost_read(uint64_t *out, const struct perf_record *record);

/* The ids of any record: of a sample from its beginning, of another one from its end. @return false: missing */
bool perf_ids_read(struct perf_ids *out, const struct perf_layout *layout,
                   const struct perf_record *record);

/* @return an element of the chain */
uint64_t perf_chain_at(const struct perf_sample *sample, size_t index);

#endif
