/*
 * A function of .eh_frame becomes as many functions of .sframe as it has stretches of rows that can
 * be expressed: what cannot is cut out, so that one row of a prologue does not cost the function.
 *
 * A row with an expression is asked at each byte of its code. That is how the linkage table of
 * x86-64, one expression of the pc for all its entries, becomes rows; those of the entries repeat
 * every 16 bytes and become one PCMASK function, as GNU ld writes it.
 */
#include "synthesis.h"

#include <stdlib.h>
#include <string.h>

enum { PLT_ENTRY_SIZE = 16, TABLE_ENTRY_SIZE = 8 };

struct builder {
    struct synthesis *out;
    struct synth_encoder *encoder;
    const struct object *object;
    struct object_range function;
    uint64_t start, end; /* of the rows that are not added yet; equal: none */
    struct synth_row *rows;
    uint32_t row_count;
    size_t row_capacity;
    bool partial;
    bool bad; /* an expression could not be read */
};

static bool flush(struct builder *b)
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

static bool add_gap(struct builder *b, uint64_t start, uint64_t end, const char *reason)
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
    if (!s->gaps || s->gap_count == s->gap_capacity) {
        size_t capacity = s->gap_capacity ? s->gap_capacity * 2 : 64;
        struct synthesis_gap *gaps = reallocarray(s->gaps, capacity, sizeof *gaps);

        if (!gaps)
            return false;
        s->gaps = gaps;
        s->gap_capacity = capacity;
    }
    s->gaps[s->gap_count++] = (struct synthesis_gap){ { start, end }, b->function, reason };
    return true;
}

static bool add_row(struct builder *b, uint64_t start, uint64_t end, const struct sfb_rule *rule)
{
    if (b->row_count > 0 && b->end == start &&
        memcmp(&b->rows[b->row_count - 1].rule, rule, sizeof *rule) == 0) {
        b->end = end;
        return true;
    }
    if (b->row_count > 0 && b->end != start && !flush(b))
        return false;
    if (b->row_count == b->row_capacity) {
        size_t capacity = b->row_capacity ? b->row_capacity * 2 : 64;
        struct synth_row *rows = reallocarray(b->rows, capacity, sizeof *rows);

        if (!rows)
            return false;
        b->rows = rows;
        b->row_capacity = capacity;
    }
    if (b->row_count == 0)
        b->start = start;
    b->rows[b->row_count++] =
        (struct synth_row){ .start = (uint32_t)(start - b->start), .rule = *rule };
    b->end = end;
    return true;
}

/* @return why the row has no place in the section at this pc; NULL: it has, with this rule */
static const char *rule_at(struct builder *b, const struct sfb_cfi_rows *rows, uint64_t pc,
                           struct sfb_rule *rule)
{
    enum sfb_status status = sfb_cfi_rows_rule(rows, pc, rule, NULL);

    if (status == SFB_OK)
        return synth_inexpressible(b->encoder->abi, rule);
    b->bad |= status != SFB_NOT_EXPRESSIBLE;
    return "an expression of more than one register or word, or an offset beyond 32 bits";
}

static bool add_span(struct builder *b, const struct sfb_cfi_rows *rows, uint64_t start,
                     uint64_t end)
{
    struct sfb_rule rule;
    const char *reason = rule_at(b, rows, start, &rule);

    return reason ? add_gap(b, start, end, reason) : add_row(b, start, end, &rule);
}

/* Whether the rules of a stretch change within each 16 bytes, and always in the same way. */
static bool is_periodic(struct builder *b, const struct sfb_cfi_rows *rows, uint64_t start,
                        uint64_t end)
{
    struct sfb_rule first[PLT_ENTRY_SIZE], rule;
    bool change = false;

    if (b->encoder->abi != SFB_ABI_AMD64_LE || end - start < PLT_ENTRY_SIZE)
        return false;
    for (uint64_t pc = start; pc < end; pc++) {
        size_t i = (size_t)(pc - start) % PLT_ENTRY_SIZE;

        if (rule_at(b, rows, pc, &rule) != NULL)
            return false;
        if (pc - start < PLT_ENTRY_SIZE)
            first[i] = rule;
        if (memcmp(&rule, &first[i], sizeof rule) != 0)
            return false;
        change |= memcmp(&rule, &first[0], sizeof rule) != 0;
    }
    return change;
}

static bool add_entries(struct builder *b, const struct sfb_cfi_rows *rows, uint64_t start,
                        uint64_t end)
{
    struct synth_row row[PLT_ENTRY_SIZE];
    struct synth_function f = {
        .start = start, .size = (uint32_t)(end - start), .rows = row, .type = SFB_FDE_PCMASK
    };

    for (uint32_t i = 0; i < PLT_ENTRY_SIZE; i++) {
        struct synth_row *next = &row[f.row_count];

        if (rule_at(b, rows, start + i, &next->rule) != NULL)
            return false;
        next->start = i;
        if (i == 0 || memcmp(&next->rule, &next[-1].rule, sizeof next->rule) != 0)
            f.row_count++;
    }
    b->out->row_count += f.row_count;
    return flush(b) && synth_encoder_add(b->encoder, &f);
}

static bool add_varying(struct builder *b, const struct sfb_cfi_rows *rows, uint64_t start,
                        uint64_t end)
{
    if (is_periodic(b, rows, start, end))
        return add_entries(b, rows, start, end);
    for (uint64_t pc = start; pc < end; pc++)
        if (!add_span(b, rows, pc, pc + 1))
            return false;
    return true;
}

/* @return why a function has no place in the section at all; NULL: it has */
static const char *judge_place(const struct builder *b)
{
    if (!object_is_code(b->object, b->function.start, b->function.end))
        return "not in the executable bytes of the file";
    if (!synth_in_reach(b->encoder->address, b->function.start) ||
        !synth_in_reach(b->encoder->address, b->function.end))
        return "further than 2 GiB from the section";
    return NULL;
}

static enum synthesis_result add_rows(struct builder *b, const struct sfb_eh_frame *eh,
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
        if (!(rows.varies ? add_varying : add_span)(b, &rows, rows.start, end))
            return SYNTHESIS_NO_MEMORY;
        if (b->bad) {
            *error = (struct sfb_error){ SFB_BAD_CFI, "expression", fde->offset };
            return SYNTHESIS_BAD_DATA;
        }
    }
    if (status != SFB_OK && status != SFB_END)
        return SYNTHESIS_BAD_DATA;
    return flush(b) ? SYNTHESIS_DONE : SYNTHESIS_NO_MEMORY;
}

static enum synthesis_result add_function(struct builder *b, const struct sfb_eh_frame *eh,
                                          const struct sfb_cfi_fde *fde, struct sfb_error *error)
{
    enum synthesis_result result;
    const char *reason;

    b->partial = false;
    b->out->function_count++;
    b->out->code_size += b->function.end - b->function.start;
    reason = judge_place(b);
    if (reason)
        result = add_gap(b, b->function.start, b->function.end, reason) ? SYNTHESIS_DONE
                                                                        : SYNTHESIS_NO_MEMORY;
    else
        result = add_rows(b, eh, fde, error);
    b->out->partial_count += b->partial;
    return result;
}

/* Where the entries that the table names begin and end; CIEs stand before the entries of theirs. */
static void measure(struct object_range *entries, const struct sfb_cfi_fde *fde)
{
    if (entries->start > fde->cie_offset)
        entries->start = fde->cie_offset;
    if (entries->start > fde->offset)
        entries->start = fde->offset;
    if (entries->end < fde->program_end)
        entries->end = fde->program_end;
}

/* Where the table says that an entry starts: a search for a pc believes it. */
static uint64_t table_start(const struct sfb_eh_frame *eh, uint32_t index)
{
    uint32_t word;

    memcpy(&word, eh->data + eh->table + (size_t)index * TABLE_ENTRY_SIZE, sizeof word);
    if (eh->swap)
        word = __builtin_bswap32(word);
    return eh->address + eh->hdr + (uint64_t)(int64_t)(int32_t)word;
}

/* Reads an entry, of which the table has to tell the truth. */
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

static enum synthesis_result add_all(struct builder *b, const struct sfb_eh_frame *eh,
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
    struct builder b = { .out = out, .encoder = encoder, .object = object };
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
