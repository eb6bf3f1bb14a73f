#include "toolchain/synth/builder.h"

#include <string.h>

#include "util/grow.h"

bool synthesis_flush(struct synthesis_builder *b)
{
    const struct synth_function f = { .start = b->start,
                                      .size = (uint32_t)(b->end - b->start),
                                      .row_count = b->row_count,
                                      .rows = b->rows,
                                      .type = SFB_FDE_PCINC };

    b->out->row_count += b->row_count;
    b->start = b->end;
    b->row_count = 0;
    return f.row_count == 0 || synth_encoder_add(b->encoder, &f);
}

bool synthesis_add_gap(struct synthesis_builder *b, uint64_t start, uint64_t end,
                       const char *reason)
{
    struct synthesis *s = b->out;
    struct synthesis_gap *last = s->gap_count ? &s->gaps[s->gap_count - 1] : NULL;

    b->partial = true;
    s->gap_size += end - start;
    if (last && last->reason == reason && last->code.end == start &&
        last->function.start == b->function.start) {
        last->code.end = end;
        return true;
    }
    if (!array_make_room(&s->gaps, s->gap_count, &s->gap_capacity, sizeof *s->gaps))
        return false;
    s->gaps[s->gap_count++] = (struct synthesis_gap){ { start, end }, b->function, reason };
    return true;
}

bool synthesis_add_row(struct synthesis_builder *b, uint64_t start, uint64_t end,
                       const struct sfb_rule *rule)
{
    if (b->row_count > 0 && b->end == start &&
        memcmp(&b->rows[b->row_count - 1].rule, rule, sizeof *rule) == 0) {
        b->end = end;
        return true;
    }
    if (b->row_count > 0 &&
        (b->end != start || b->row_count == sframe_rows_max(b->encoder->format)) &&
        !synthesis_flush(b))
        return false;
    if (!array_make_room(&b->rows, b->row_count, &b->row_capacity, sizeof *b->rows))
        return false;
    if (b->row_count == 0)
        b->start = start;
    b->rows[b->row_count++] =
        (struct synth_row){ .start = (uint32_t)(start - b->start), .rule = *rule };
    b->end = end;
    return true;
}
