/* Messages of protocol buffers (wire format of proto3), written into memory: what pprof files are made of. */
#ifndef REPORT_PROTO_H
#define REPORT_PROTO_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* A message in the making. One that is all zero is empty. */
struct report_proto {
    uint8_t *at;
    size_t size, room;
    bool failed; /* no memory: what was put since is not there */
};

/* A number without a field, as in a packed list. */
void report_proto_value(struct report_proto *p, uint64_t value);

/* A number. Zero is what a reader takes if a field is not there: it is left out. */
void report_proto_number(struct report_proto *p, unsigned field, uint64_t value);

/* A string, a message, or a packed list. An empty one is written, too: it counts in a repeated field. */
void report_proto_bytes(struct report_proto *p, unsigned field, const void *bytes, size_t size);

/* The same, and empties the message that it takes. */
void report_proto_message(struct report_proto *p, unsigned field, struct report_proto *message);

/* Makes it empty; its memory stays. */
void report_proto_clear(struct report_proto *p);

void report_proto_free(struct report_proto *p);

#endif
