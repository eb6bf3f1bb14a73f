/*
 * A recording in memory, as its file has it: what belongs together is found by number. An entry never goes away,
 * and what a damaged file left out is not there.
 */
#ifndef PROFILER_REPORT_MODEL_DATA_H
#define PROFILER_REPORT_MODEL_DATA_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "profiler/report/model/data_heap.h"
#include "sfb/recording.h"
#include "util/array.h"
#include "util/labels.h"
#include "util/strings.h"

struct report_process {
    uint32_t id, parent; /* ids */
    uint32_t pid, parent_pid;
    uint32_t how, end, status; /* enums of sfb/recording.h */
    bool ended;                /* end and what follows are known */
    uint64_t time, end_time;
    uint64_t cpu_ns, unsampled_ns;
    uint64_t modules; /* time of the list that was read last */
    char *program;
    char *arguments; /* separated by '\0' */
    size_t arguments_size;
};

struct report_thread {
    uint32_t id;
    uint32_t process; /* index */
    uint32_t tid, engine;
    uint32_t idle; /* 0: not known; else 1, and the threads of pools that it stands for */
    bool ended;
    uint64_t time, end_time;
    uint64_t cpu_ns, unsampled_ns;
    char *name; /* the last one */
};

/* The modules of a process from a time on. */
struct report_list {
    uint32_t process; /* index */
    uint64_t time;
    uint8_t *map; /* Compact ImageMap */
    size_t size;
};

struct report_cbf {
    uint32_t id;
    uint32_t process; /* index */
    uint8_t *bytes;
    size_t size;
};

/* A function of an interpreter. */
struct report_script {
    uint32_t id, first_line; /* 0: the line is not known */
    char *name, *file;
};

/* Calls of such functions in a stack, innermost first. */
struct report_code_frames {
    uint32_t stack; /* id */
    struct sfb_recording_code_frame *frames;
    size_t count;
    uint32_t gil; /* enum sfb_recording_gil */
};

struct report_sample {
    uint32_t thread; /* index */
    uint32_t stack;  /* index; REPORT_NONE */
    uint32_t end;    /* enum sfb_status */
    uint32_t engine; /* enum sfb_recording_engine */
    uint64_t time, weight;
};

struct report_wait {
    uint32_t thread; /* index */
    uint32_t stack;  /* index; REPORT_NONE */
    uint32_t state;  /* enum sfb_recording_state */
    uint32_t end;    /* enum sfb_status */
    uint32_t call;   /* string: its name, or "" */
    uint64_t time, weight;
    uint32_t awaited;              /* index; REPORT_NONE */
    uint32_t holder, holder_stack; /* thread and stack, index; REPORT_NONE */
    uint64_t since;                /* 0: not known */
    uint32_t waker, waker_stack;   /* which ended it: thread and stack, index; REPORT_NONE */
    uint32_t waker_name; /* string of calls: what ended it, if no thread of the recording; or "" */
};

/* What threads waited for. */
struct report_awaited {
    uint32_t id, kind; /* enum sfb_recording_awaited_kind */
    uint32_t process;  /* index */
    uint64_t address, start;
    char *name;
};

struct report_moment {
    uint64_t time;
    char *name;
};

/* A time in which nothing was recorded: it was asked for. */
struct report_pause {
    uint64_t from, to; /* CLOCK_MONOTONIC; to 0: up to the end */
    uint32_t part;     /* of part_pauses */
};

struct report_loss {
    uint32_t reason;
    uint64_t count;
    char *text; /* may be "" */
};

/* What a process made: /tmp/perf-PID.map. */
struct report_file {
    uint32_t process; /* index */
    char *bytes;      /* a '\0' follows them */
    size_t size;
};

struct report_data {
    struct sfb_recording_start start; /* its strings are copies, but labels are elsewhere */
    struct labels labels;             /* of the recording, then of the command */
    struct sfb_recording_finish finish;
    struct sfb_recording_health health;
    REPORT_ARRAY(struct report_process) processes;
    REPORT_ARRAY(struct report_thread) threads;
    REPORT_ARRAY(struct report_list) lists; /* of a process by time */
    REPORT_ARRAY(struct report_cbf) stacks;
    REPORT_ARRAY(struct report_sample) samples;
    REPORT_ARRAY(struct report_wait) waits;
    REPORT_ARRAY(struct report_awaited) awaited;
    REPORT_ARRAY(struct report_moment) marks; /* as they were written */
    REPORT_ARRAY(struct report_pause) pauses; /* ascending, apart */
    REPORT_ARRAY(struct report_pause)
    part_pauses;                             /* of each input of a merged recording, likewise */
    struct report_strings calls;             /* that threads waited in */
    size_t sample_count;                     /* also when they were released */
    size_t wait_count;                       /* likewise */
    size_t gil_count;                        /* stacks of which the GIL is known, likewise */
    uint64_t sampled_ns;                     /* the sum of their weights */
    uint64_t first_sample, last_sample;      /* times */
    REPORT_ARRAY(struct report_loss) losses; /* by reason and text */
    REPORT_ARRAY(struct report_file) files;
    REPORT_ARRAY(struct report_script) codes;            /* by id */
    REPORT_ARRAY(struct report_code_frames) code_frames; /* by stack */
    struct report_heap_data heap;
};

/**
 * Reads a recording.
 *
 * @param out    written, and to be freed, in any case
 * @param error  written on failure
 * @return SFB_OK: all of it that can be read, and health says what cannot; as sfb_recording_reader_open(); SFB_NO_RESOURCE
 */
enum sfb_status report_data_read(struct report_data *out, const char *path,
                                 struct sfb_error *error);

/* Sorts the losses, so that equal reasons and texts are adjacent. */
void report_data_sort_losses(struct report_data *data);

/*
 * @return index of the module list that is valid for a process at a time: the last one that is not later, else the
 *         first; REPORT_NONE: the process has no list
 */
uint32_t report_data_list(const struct report_data *data, uint32_t process, uint64_t time);

/* @return the calls of a stack; NULL: none */
const struct report_code_frames *report_data_code_frames(const struct report_data *data,
                                                         uint32_t stack_id);

/* @return the index of a code; REPORT_NONE: not known */
uint32_t report_data_code(const struct report_data *data, uint32_t id);

/*
 * Finds a mark: the first one of its name.
 *
 * @param out  written: ns from the beginning
 * @return false: no mark has the name
 */
bool report_data_mark(const struct report_data *data, const char *name, uint64_t *out);

/* @return ns that it was paused for between two times, which are ns from its beginning; `to` 0: its end */
uint64_t report_data_paused(const struct report_data *data, uint64_t from, uint64_t to);

/* @return ns that were recorded: its length without its pauses */
uint64_t report_data_recorded(const struct report_data *data);

/* @return when it ended: of one that was cut off, the time of its last sample. Never before it began */
uint64_t report_data_end(const struct report_data *data);

/* Whether waits were recorded, if only none. */
bool report_data_is_wall(const struct report_data *data);

/* Whether it was recorded what ended waits, if only of none. Of a merged recording its waits alone say so. */
bool report_data_has_wakers(const struct report_data *data);

/* Whether it is of heaps, if only of none: not of CPU time. */
static inline bool report_data_is_heap(const struct report_data *data)
{
    return data->heap.heaps.count > 0 ||
           (data->start.command && data->start.engine == SFB_ENGINE_NONE &&
            data->start.rate_hz == 0 && data->sample_count == 0);
}

/*
 * Frees samples and stacks, which a model that was made of them has: the recordings of many hosts do not fit into memory
 * side by side. What else is known stays.
 */
void report_data_release(struct report_data *data);

void report_data_free(struct report_data *data);

#endif
