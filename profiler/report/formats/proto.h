/*
 * Messages of protocol buffers (wire format of proto3), written into memory: what pprof files are made of. Bytes are a
 * message in the making. A number without a field, as in a packed list, is put by sfb_bytes_put_uleb().
 */
#ifndef PROFILER_REPORT_FORMATS_PROTO_H
#define PROFILER_REPORT_FORMATS_PROTO_H

#include <stddef.h>
#include <stdint.h>

#include "profiler/format/bytes.h"

/* A number. Zero is what a reader takes if a field is not there: it is left out. */
void report_proto_number(struct sfb_bytes *p, unsigned field, uint64_t value);

/* A string, a message, or a packed list. An empty one is written, too: it counts in a repeated field. */
void report_proto_bytes(struct sfb_bytes *p, unsigned field, const void *bytes, size_t size);

/* The same, and empties the message that it takes. */
void report_proto_message(struct sfb_bytes *p, unsigned field, struct sfb_bytes *message);

/* Makes it empty; its memory stays. */
void report_proto_clear(struct sfb_bytes *p);

#endif
