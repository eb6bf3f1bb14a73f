#include "toolchain/synth/sframe_encoder.h"

#include <assert.h>
#include <stdlib.h>

#include "util/grow.h"

struct synth_fde {
    struct sframe_entry entry; /* rows_at: set when all are placed */
    size_t run;
};

bool synth_in_reach(unsigned version, uint64_t section, uint64_t start)
{
    return version == 3 || (int64_t)(start - section) == (int32_t)(start - section);
}

void synth_encoder_init(struct synth_encoder *out, unsigned version, enum sfb_abi abi,
                        uint64_t address)
{
    /*
     * libsframe swaps rows of the other byte order in place, function by function: shared ones
     * twice. Big-endian sections are mostly read on little-endian machines.
     */
    *out = (struct synth_encoder){ .format = { version, abi },
                                   .address = address,
                                   .runs = { .share = abi != SFB_ABI_AARCH64_BE } };
}

void synth_encoder_free(struct synth_encoder *encoder)
{
    free(encoder->fdes);
    sframe_runs_free(&encoder->runs);
    *encoder = (struct synth_encoder){ .fde_count = 0 };
}

/* 1.3.3: log2 of the bytes of a row's start. */
static uint8_t start_width(const struct synth_function *f)
{
    uint32_t last = f->rows[f->row_count - 1].start;

    if (last <= UINT8_MAX)
        return SFB_FRE_ADDR1;
    return last <= UINT16_MAX ? SFB_FRE_ADDR2 : SFB_FRE_ADDR4;
}

static struct sframe_entry entry_of(const struct synth_encoder *e, const struct synth_function *f)
{
    struct sframe_entry entry = { .start = f->start - e->address,
                                  .size = f->size,
                                  .row_count = f->row_count,
                                  .start_log2 = start_width(f),
                                  .pcmask = f->type == SFB_FDE_PCMASK };

    /* An outermost row has no other rule. */
    for (uint32_t i = 0; i < f->row_count; i++) {
        const struct sfb_rule *rule = &f->rows[i].rule;

        entry.key_b |= (rule->flags & SFB_RULE_RA_KEY_B) != 0;
        entry.signal |= (rule->flags & SFB_RULE_SIGNAL) != 0;
        entry.flexible |= e->format.version == 3 && synth_is_flexible(e->format.abi, rule);
    }
    return entry;
}

bool synth_encoder_add(struct synth_encoder *e, const struct synth_function *f)
{
    struct synth_fde fde;
    uint8_t *begin, *end;

    assert(f->row_count > 0 && f->rows[0].start == 0);
    assert(f->row_count <= sframe_rows_max(e->format));
    assert(synth_in_reach(e->format.version, e->address, f->start));
    if (e->fde_count == UINT32_MAX ||
        !array_make_room(&e->fdes, e->fde_count, &e->fde_capacity, sizeof *e->fdes))
        return false;
    begin = sframe_runs_room(&e->runs, SYNTH_ATTRIBUTE_MAX + (size_t)f->row_count * SYNTH_ROW_MAX);
    if (!begin)
        return false;
    fde.entry = entry_of(e, f);
    end = sframe_put_attribute(begin, e->format, &fde.entry);
    for (uint32_t i = 0; i < f->row_count; i++) {
        assert(!synth_inexpressible_in(e->format.version, e->format.abi, &f->rows[i].rule));
        end = sframe_put_row(end, e->format, &fde.entry, f->rows[i].start, &f->rows[i].rule);
    }
    if (!sframe_runs_add(&e->runs, (size_t)(end - begin), f->row_count, &fde.run))
        return false;
    e->fdes[e->fde_count++] = fde;
    return true;
}

/* Rows lie in the order of their functions, so that neighbours are near each other. */
static bool place_runs(struct synth_encoder *e, uint64_t *size, uint64_t *row_count)
{
    *size = *row_count = 0;
    if (!sframe_runs_join(&e->runs))
        return false;
    for (size_t i = 0; i < e->fde_count; i++)
        sframe_runs_place(&e->runs, e->fdes[i].run, size, row_count);
    return true;
}

bool synth_encoder_finish(struct synth_encoder *e, uint8_t **out, size_t *size, uint32_t *row_count)
{
    const uint64_t entries = (uint64_t)e->fde_count * sframe_entry_size(e->format);
    uint64_t row_bytes, rows;
    uint8_t *bytes, *to;

    if (!place_runs(e, &row_bytes, &rows) || SYNTH_HEADER_SIZE + entries + row_bytes > UINT32_MAX)
        return false;
    bytes = malloc(SYNTH_HEADER_SIZE + entries + row_bytes);
    if (!bytes)
        return false;
    to = sframe_put_header(bytes, e->format,
                           (struct sframe_totals){ .functions = (uint32_t)e->fde_count,
                                                   .rows = (uint32_t)rows,
                                                   .row_bytes = (uint32_t)row_bytes });
    for (uint32_t i = 0; i < e->fde_count; i++) {
        struct synth_fde *fde = &e->fdes[i];

        fde->entry.rows_at = (uint32_t)sframe_runs_position(&e->runs, fde->run);
        to = sframe_put_entry(to, e->format, &fde->entry, i);
    }
    sframe_runs_put(&e->runs, to);
    *out = bytes;
    *size = SYNTH_HEADER_SIZE + entries + row_bytes;
    if (row_count)
        *row_count = (uint32_t)rows;
    return true;
}
