/* Tracepoints of the kernel, as perf events know them: by a number, and the offsets of their fields. */
#ifndef PROFILER_COLLECTOR_OUTSIDE_TRACEPOINT_H
#define PROFILER_COLLECTOR_OUTSIDE_TRACEPOINT_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct tracepoint {
    uint16_t number;       /* 0: not known */
    uint32_t offset, size; /* of a field of it, of 32 or 64 bits */
};

/* Fields that all tracepoints have: trace_entry of the kernel's linux/trace_events.h. */
enum { TRACEPOINT_NUMBER = 0, TRACEPOINT_FLAGS = 2, TRACEPOINT_HEAD = 8 };
enum { TRACEPOINT_HARDIRQ = 0x08, TRACEPOINT_SOFTIRQ = 0x10, TRACEPOINT_NMI = 0x40 };

/* Where it is not mounted it is mounted for this program alone, at no path: root may do that. @return descriptor; -1: errno says why */
int tracefs_open(void);

/*
 * Reads a tracepoint.
 *
 * @param tracefs  of tracefs_open()
 * @param event    "sched/sched_waking"
 * @param field    its field of 32 or 64 bits
 * @return false: there is no such field, or it may not be read
 */
bool tracepoint_find(struct tracepoint *out, int tracefs, const char *event, const char *field);

/* @param format  the text that tracefs has of an event. @return false: the field is not in it, or has another size */
bool tracepoint_field(struct tracepoint *out, const char *format, const char *field);

/* @param raw  fields of a record. @return false: it is of another tracepoint, or is too short */
bool tracepoint_read(uint64_t *out, const struct tracepoint *tracepoint, const uint8_t *raw,
                     size_t size);

#endif
