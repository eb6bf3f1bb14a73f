#include "report/formats/proto.h"

#include <stdlib.h>
#include <string.h>

enum { WIRE_VARINT = 0, WIRE_BYTES = 2, VARINT_MAX = 10, ROOM_FIRST = 256 };

static void put(struct report_proto *p, const void *bytes, size_t size)
{
    if (p->failed || size == 0)
        return;
    if (size > p->room - p->size) {
        size_t room = p->room ? p->room : ROOM_FIRST;
        uint8_t *grown;

        while (room - p->size < size && room <= SIZE_MAX / 2)
            room *= 2;
        grown = room - p->size < size ? NULL : realloc(p->at, room);
        if (!grown) {
            p->failed = true;
            return;
        }
        p->at = grown;
        p->room = room;
    }
    memcpy(p->at + p->size, bytes, size);
    p->size += size;
}

void report_proto_value(struct report_proto *p, uint64_t value)
{
    uint8_t bytes[VARINT_MAX];
    size_t n = 0;

    for (; value >= 0x80; value >>= 7)
        bytes[n++] = (uint8_t)(value | 0x80);
    bytes[n++] = (uint8_t)value;
    put(p, bytes, n);
}

void report_proto_number(struct report_proto *p, unsigned field, uint64_t value)
{
    if (value == 0)
        return;
    report_proto_value(p, field << 3 | WIRE_VARINT);
    report_proto_value(p, value);
}

void report_proto_bytes(struct report_proto *p, unsigned field, const void *bytes, size_t size)
{
    report_proto_value(p, field << 3 | WIRE_BYTES);
    report_proto_value(p, size);
    put(p, bytes, size);
}

void report_proto_message(struct report_proto *p, unsigned field, struct report_proto *message)
{
    p->failed |= message->failed;
    report_proto_bytes(p, field, message->at, message->size);
    message->size = 0;
}

void report_proto_clear(struct report_proto *p)
{
    p->size = 0;
}

void report_proto_free(struct report_proto *p)
{
    free(p->at);
    *p = (struct report_proto){ .at = NULL };
}
