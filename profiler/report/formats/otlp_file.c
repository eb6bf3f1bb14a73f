#include "profiler/report/formats/otlp_file.h"

#include <string.h>

enum { ANY_STRING = 1, ANY_INT = 3 };

void report_otlp_put_text(struct sfb_bytes *to, unsigned field, const char *text)
{
    struct sfb_bytes value = { .at = NULL };

    report_proto_bytes(&value, ANY_STRING, text, strlen(text));
    report_proto_message(to, field, &value);
    sfb_bytes_free(&value);
}

/* Zero is written, too: without it there is no value. */
void report_otlp_put_number(struct sfb_bytes *to, unsigned field, uint64_t number)
{
    struct sfb_bytes value = { .at = NULL };

    sfb_bytes_put_uleb(&value, ANY_INT << 3);
    sfb_bytes_put_uleb(&value, number);
    report_proto_message(to, field, &value);
    sfb_bytes_free(&value);
}

static uint32_t attribute(struct report_otlp *o, struct report_otlp_attribute a, uint64_t value)
{
    struct report_index *index = &o->attribute_index[a.string == REPORT_NONE];
    struct report_otlp_attribute *slot;
    uint32_t out = 0;
    bool found = false;

    if (!report_index_find(index, a.key, value, (uint32_t)o->attributes.count, &out, &found)) {
        o->failed = true;
        return 0;
    }
    slot = found ? NULL : REPORT_NEXT(o->attributes);
    if (slot)
        *slot = a;
    o->failed |= !found && !slot;
    return out + 1;
}

uint32_t report_otlp_text(struct report_otlp *o, const char *key, const char *value)
{
    const uint32_t string = report_pprof_text(&o->tables, value);

    return attribute(o,
                     (struct report_otlp_attribute){ .key = report_pprof_text(&o->tables, key),
                                                     .string = string },
                     string);
}

uint32_t report_otlp_number(struct report_otlp *o, const char *key, uint64_t value)
{
    return attribute(o,
                     (struct report_otlp_attribute){ .key = report_pprof_text(&o->tables, key),
                                                     .string = REPORT_NONE,
                                                     .number = value },
                     value);
}

void report_otlp_write_field(struct report_otlp *o, unsigned field, struct sfb_bytes *message)
{
    struct sfb_bytes head = { .at = NULL };

    sfb_bytes_put_uleb(&head, field << 3 | 2);
    sfb_bytes_put_uleb(&head, message->size);
    o->failed |= head.failed || message->failed || o->tables.failed;
    if (!o->failed) {
        fwrite(head.at, 1, head.size, o->to);
        fwrite(message->at, 1, message->size, o->to);
    }
    sfb_bytes_free(&head);
    report_proto_clear(message);
}
