#include "crash/lines.h"

#include "crash/grammar.h"
#include "crash/places.h"

void sfb_crash_put_number(struct sfb_text *text, const char *what, int64_t value)
{
    sfb_text_string(text, what);
    sfb_text_decimal(text, value);
}

void sfb_crash_put_address(struct sfb_text *text, const char *what, uint64_t value)
{
    sfb_text_string(text, what);
    sfb_text_hex(text, value);
}

void sfb_crash_put_cbf(struct sfb_text *text, const char *first, const uint8_t *cbf, size_t size)
{
    enum { LINE = 32 };

    for (size_t at = 0; at < size; at += LINE) {
        sfb_text_string(text, first);
        sfb_text_string(text, SFB_CRASH_CBF);
        sfb_text_bytes(text, cbf + at, size - at < LINE ? size - at : LINE);
        sfb_text_char(text, '\n');
    }
}

uint64_t sfb_crash_put_frame(struct sfb_text *text, const struct sfb_cbf_item *item,
                             uint64_t number)
{
    if (item->kind == SFB_FRAME_OMIT) {
        sfb_crash_put_number(text, SFB_CRASH_OMITTED, (int64_t)item->value);
        number += item->value;
    } else if (item->repeat) {
        sfb_crash_put_number(text, SFB_CRASH_REPEATED, (int64_t)item->count);
        number += item->count;
    } else {
        sfb_crash_put_number(text, SFB_CRASH_FRAME, (int64_t)number);
        sfb_crash_put_address(text,
                              item->kind == SFB_FRAME_PC      ? " pc "
                              : item->kind == SFB_FRAME_ASYNC ? " async "
                                                              : " ra ",
                              item->value);
        sfb_text_char(text, ' ');
        sfb_place_put(text, item->value);
        number++;
    }
    sfb_text_char(text, '\n');
    return number;
}
