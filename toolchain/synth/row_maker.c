/*
 * A row with an expression is evaluated at each byte of its code. So the linkage table of x86-64,
 * one expression of the pc for all entries, becomes rows. Its entries repeat every 16 bytes and
 * become one PCMASK function, as GNU ld writes it.
 */
#include "toolchain/synth/row_maker.h"

#include <string.h>

enum { PLT_ENTRY_SIZE = 16 };

void synthesis_note_newer(struct synthesis_builder *b, const char *reason)
{
    if (b->out->newer_reason)
        return;
    b->out->newer = b->function;
    b->out->newer_reason = reason;
}

/* @return why the section cannot state the row at this pc; NULL: it can, by this rule */
static const char *rule_at(struct synthesis_builder *b, const struct sfb_cfi_rows *rows,
                           uint64_t pc, struct sfb_rule *rule)
{
    const struct sframe_format format = b->encoder->format;
    enum sfb_status status = sfb_cfi_rows_rule(rows, pc, rule, NULL);

    if (status == SFB_OK) {
        const char *reason = synth_inexpressible_in(format.version, format.abi, rule);

        if (reason && !synth_inexpressible_in(SYNTH_NEWEST, format.abi, rule))
            synthesis_note_newer(b, reason);
        return reason;
    }
    b->bad |= status != SFB_NOT_EXPRESSIBLE;
    return "an expression of more than one register or word, or an offset beyond 32 bits";
}

static bool add_span(struct synthesis_builder *b, const struct sfb_cfi_rows *rows, uint64_t start,
                     uint64_t end)
{
    struct sfb_rule rule;
    const char *reason = rule_at(b, rows, start, &rule);

    return reason ? synthesis_add_gap(b, start, end, reason)
                  : synthesis_add_row(b, start, end, &rule);
}

/* Whether the rules of a stretch vary with a period of 16 bytes. */
static bool is_periodic(struct synthesis_builder *b, const struct sfb_cfi_rows *rows,
                        uint64_t start, uint64_t end)
{
    struct sfb_rule first[PLT_ENTRY_SIZE], rule;
    bool change = false;

    if (b->encoder->format.abi != SFB_ABI_AMD64_LE || end - start < PLT_ENTRY_SIZE)
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

static bool add_entries(struct synthesis_builder *b, const struct sfb_cfi_rows *rows,
                        uint64_t start, uint64_t end)
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
    return synthesis_flush(b) && synth_encoder_add(b->encoder, &f);
}

static bool add_varying(struct synthesis_builder *b, const struct sfb_cfi_rows *rows,
                        uint64_t start, uint64_t end)
{
    if (is_periodic(b, rows, start, end))
        return add_entries(b, rows, start, end);
    for (uint64_t pc = start; pc < end; pc++)
        if (!add_span(b, rows, pc, pc + 1))
            return false;
    return true;
}

bool synthesis_add_stretch(struct synthesis_builder *b, const struct sfb_cfi_rows *rows,
                           uint64_t end)
{
    return (rows->varies ? add_varying : add_span)(b, rows, rows->start, end);
}
