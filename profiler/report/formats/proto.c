#include "profiler/report/formats/proto.h"

enum { WIRE_VARINT = 0, WIRE_BYTES = 2 };

void report_proto_number(struct sfb_bytes *p, unsigned field, uint64_t value)
{
    if (value == 0)
        return;
    sfb_bytes_put_uleb(p, field << 3 | WIRE_VARINT);
    sfb_bytes_put_uleb(p, value);
}

void report_proto_bytes(struct sfb_bytes *p, unsigned field, const void *bytes, size_t size)
{
    sfb_bytes_put_uleb(p, field << 3 | WIRE_BYTES);
    sfb_bytes_put_uleb(p, size);
    sfb_bytes_put(p, bytes, size);
}

void report_proto_message(struct sfb_bytes *p, unsigned field, struct sfb_bytes *message)
{
    p->failed |= message->failed;
    report_proto_bytes(p, field, message->at, message->size);
    message->size = 0;
}

void report_proto_clear(struct sfb_bytes *p)
{
    p->size = 0;
}
