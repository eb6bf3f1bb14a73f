/*
 * A function of .eh_frame becomes one function of .sframe for each stretch of expressible rows: one
 * inexpressible row of a prologue does not cost the whole function.
 */
#include "toolchain/synth/synthesis.h"

#include <stdlib.h>
#include <string.h>

#include "toolchain/synth/row_maker.h"

enum { TABLE_ENTRY_SIZE = 8 };

/* @return why the section cannot hold the function at all; NULL: it can */
static const char *judge_place(struct synthesis_builder *b)
{
    const unsigned version = b->encoder->format.version;

    if (!object_is_code(b->object, b->function.start, b->function.end))
        return "not in the executable bytes of the file";
    if (b->function.end - b->function.start > INT32_MAX)
        return "larger than 2 GiB";
    if (!synth_in_reach(version, b->encoder->address, b->function.start) ||
        !synth_in_reach(version, b->encoder->address, b->function.end)) {
        synthesis_note_newer(b, "further than 2 GiB from the section");
        return "further than 2 GiB from the section";
    }
    return NULL;
}

static enum synthesis_result add_rows(struct synthesis_builder *b, const struct sfb_eh_frame *eh,
                                      const struct sfb_cfi_fde *fde, struct sfb_error *error)
{
    struct sfb_cfi_rows rows;
    enum sfb_status status = sfb_cfi_rows_init(&rows, eh, fde, error);

    while (status == SFB_OK) {
        uint64_t end;

        status = sfb_cfi_rows_next(&rows, error);
        if (status != SFB_OK || rows.start >= b->function.end)
            break;
        end = rows.end < b->function.end ? rows.end : b->function.end;
        if (!synthesis_add_stretch(b, &rows, end))
            return SYNTHESIS_NO_MEMORY;
        if (b->bad) {
            *error = (struct sfb_error){ SFB_BAD_CFI, "expression", fde->offset };
            return SYNTHESIS_BAD_DATA;
        }
    }
    if (status != SFB_OK && status != SFB_END)
        return SYNTHESIS_BAD_DATA;
    return synthesis_flush(b) ? SYNTHESIS_DONE : SYNTHESIS_NO_MEMORY;
}

static enum synthesis_result add_function(struct synthesis_builder *b,
                                          const struct sfb_eh_frame *eh,
                                          const struct sfb_cfi_fde *fde, struct sfb_error *error)
{
    enum synthesis_result result;
    const char *reason;

    b->partial = false;
    b->out->function_count++;
    b->out->code_size += b->function.end - b->function.start;
    reason = judge_place(b);
    if (reason)
        result = synthesis_add_gap(b, b->function.start, b->function.end, reason)
                     ? SYNTHESIS_DONE
                     : SYNTHESIS_NO_MEMORY;
    else
        result = add_rows(b, eh, fde, error);
    b->out->partial_count += b->partial;
    return result;
}

/* Measures the entries named by the table; each CIE precedes its FDEs. */
static void measure(struct object_range *entries, const struct sfb_cfi_fde *fde)
{
    if (entries->start > fde->cie_offset)
        entries->start = fde->cie_offset;
    if (entries->start > fde->offset)
        entries->start = fde->offset;
    if (entries->end < fde->program_end)
        entries->end = fde->program_end;
}

/* The start of an entry by the table: searches for a pc believe it. */
static uint64_t table_start(const struct sfb_eh_frame *eh, uint32_t index)
{
    uint32_t word;

    memcpy(&word, eh->data + eh->table + (size_t)index * TABLE_ENTRY_SIZE, sizeof word);
    if (eh->swap)
        word = __builtin_bswap32(word);
    return eh->address + eh->hdr + (uint64_t)(int64_t)(int32_t)word;
}

/* Reads an entry, and checks it against the table. */
static bool read_entry(struct sfb_cfi_fde *out, const struct sfb_eh_frame *eh, uint32_t index,
                       uint64_t before, struct sfb_error *error)
{
    if (sfb_eh_frame_fde(eh, index, out, error) != SFB_OK)
        return false;
    if (out->start == table_start(eh, index) && out->start >= before)
        return true;
    *error = (struct sfb_error){ SFB_BAD_CFI, "table", eh->table + index * TABLE_ENTRY_SIZE };
    return false;
}

static enum synthesis_result add_all(struct synthesis_builder *b, const struct sfb_eh_frame *eh,
                                     struct sfb_error *error)
{
    struct object_range entries = { UINT64_MAX, 0 };
    struct sfb_cfi_fde fde, next;

    if (eh->count == 0)
        return SYNTHESIS_DONE;
    if (!read_entry(&next, eh, 0, 0, error))
        return SYNTHESIS_BAD_DATA;
    for (uint32_t i = 0; i < eh->count; i++) {
        enum synthesis_result result;

        fde = next;
        measure(&entries, &fde);
        b->function = (struct object_range){ fde.start, fde.end };
        if (i + 1 < eh->count) {
            if (!read_entry(&next, eh, i + 1, fde.start, error))
                return SYNTHESIS_BAD_DATA;
            if (b->function.end > next.start)
                b->function.end = next.start;
        }
        if (b->function.start == b->function.end)
            continue;
        result = add_function(b, eh, &fde, error);
        if (result != SYNTHESIS_DONE)
            return result;
    }
    b->out->eh_frame_size = entries.end - entries.start;
    return SYNTHESIS_DONE;
}

enum synthesis_result synthesize(struct synthesis *out, struct synth_encoder *encoder,
                                 const struct sfb_eh_frame *eh, const struct object *object,
                                 struct sfb_error *error)
{
    struct synthesis_builder b = { .out = out, .encoder = encoder, .object = object };
    enum synthesis_result result;

    *out = (struct synthesis){ .function_count = 0 };
    result = add_all(&b, eh, error);
    free(b.rows);
    if (result != SYNTHESIS_DONE)
        synthesis_free(out);
    return result;
}

void synthesis_free(struct synthesis *synthesis)
{
    free(synthesis->gaps);
    *synthesis = (struct synthesis){ .function_count = 0 };
}
