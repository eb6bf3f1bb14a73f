/*
 * Byte for byte the output of libsframe's sframe-dump.c, with blanks at the ends of lines, so that
 * diff can compare them. Differences between releases:
 *
 *                    2.40           2.41 to 2.44    2.45 on
 *     flags          the last set   the last set    one a line
 *     fixed offsets  not printed    each a line     each a line
 *     RA, if fixed   u              f               f
 *     RA undefined   -              -               instead of the columns
 *
 * A section does not name its producer, but its version nearly does: only 2.45 and later set the
 * flag of field-relative starts.
 */
#include "toolchain/dump/dump_text.h"

#include <inttypes.h>
#include <stdio.h>

static void print_flags(const struct sfb_section *s)
{
    static const struct {
        uint8_t bit;
        const char *name;
    } flags[] = {
        { SFB_SECTION_FDE_SORTED, "SFRAME_F_FDE_SORTED" },
        { SFB_SECTION_FRAME_POINTER, "SFRAME_F_FRAME_POINTER" },
        { SFB_SECTION_FIELD_RELATIVE, "SFRAME_F_FDE_FUNC_START_PCREL" },
    };
    const bool list = (s->flags & SFB_SECTION_FIELD_RELATIVE) != 0 || s->version > 2;
    const char *last = NULL;

    printf("    Flags: ");
    for (size_t i = 0; i < sizeof flags / sizeof *flags; i++) {
        if ((s->flags & flags[i].bit) == 0)
            continue;
        if (list && last)
            printf("%s,\n           ", last);
        last = flags[i].name;
    }
    printf("%s\n", last ? last : "NONE");
}

static void print_header(const struct sfb_section *s)
{
    printf("Contents of the SFrame section .sframe:\n"
           "  Header :\n"
           "\n"
           "    Version: SFRAME_VERSION_%u\n",
           s->version);
    print_flags(s);
    if (s->version > 1 && s->fixed_fp)
        printf("    CFA fixed FP offset: %d\n", s->fixed_fp);
    if (s->version > 1 && s->fixed_ra)
        printf("    CFA fixed RA offset: %d\n", s->fixed_ra);
    printf("    Num FDEs: %" PRIu32 "\n"
           "    Num FREs: %" PRIu32 "\n"
           "\n"
           "  Function Index :\n",
           s->fde_count, s->fre_count);
}

static void print_function(const struct sfb_section *s, const struct sfb_fde *f)
{
    printf("\n    func idx [%" PRIu32 "]: pc = 0x%" PRIx64 ", size = %" PRIu32 " bytes", f->index,
           f->start, f->size);
    if (f->signal || f->flexible)
        printf(", attr = \"%s%s\"", f->signal ? "S" : "", f->flexible ? "F" : "");
    if (f->key_b && s->abi != SFB_ABI_AMD64_LE)
        printf(", pauth = B key");
    printf("\n    %-7s%-8s %-10s%-10s%-13s\n", "STARTPC", f->type == SFB_FDE_PCMASK ? "[m]" : "   ",
           "CFA", "FP", "RA");
}

struct columns {
    char cfa[32], fp[32], ra[32];
};

/* "c-16" for a register saved at CFA-16, "u" for an unsaved one. */
static void print_saved(char *out, size_t size, bool saved, int32_t offset)
{
    if (saved)
        snprintf(out, size, "c%+" PRId32, offset);
    else
        snprintf(out, size, "u");
}

/* The stored offsets are CFA, then RA unless the header fixes it, then fp. */
static void describe_offsets(struct columns *out, const struct sfb_section *s,
                             const struct sfb_fre *r)
{
    const unsigned fp_index = s->fixed_ra ? 1 : 2;

    snprintf(out->cfa, sizeof out->cfa, "%s+%" PRId32, r->cfa_base == SFB_BASE_FP ? "fp" : "sp",
             r->offset[0]);
    if (s->fixed_fp)
        print_saved(out->fp, sizeof out->fp, true, s->fixed_fp);
    else
        print_saved(out->fp, sizeof out->fp, r->offset_count > fp_index, r->offset[fp_index]);
    if (s->fixed_ra && s->version > 1)
        snprintf(out->ra, sizeof out->ra, "f");
    else
        print_saved(out->ra, sizeof out->ra, !s->fixed_ra && r->offset_count > 1, r->offset[1]);
}

static void print_location(char *out, size_t size, const struct sfb_section *s,
                           const struct sfb_location *at)
{
    const struct sfb_abi_registers known = sfb_abi_registers(s->abi);
    char reg[16];

    if (!at->reg_based) { /* objdump prints the word and the address alike */
        print_saved(out, size, true, at->offset);
        return;
    }
    if (at->reg == known.sp)
        snprintf(reg, sizeof reg, "sp");
    else if (at->reg == known.fp)
        snprintf(reg, sizeof reg, "fp");
    else
        snprintf(reg, sizeof reg, "r%" PRIu32, at->reg);
    snprintf(out, size, at->deref ? "(%s%+" PRId32 ")" : "%s%+" PRId32, reg, at->offset);
}

static enum sfb_status describe_locations(struct columns *out, const struct sfb_section *s,
                                          const struct sfb_fre *r)
{
    struct sfb_location at[SFB_LOCATION_COUNT];
    enum sfb_status status = sfb_fre_locations(r, at);

    if (status != SFB_OK)
        return status;
    print_location(out->cfa, sizeof out->cfa, s, &at[SFB_LOCATION_CFA]);
    snprintf(out->fp, sizeof out->fp, "u");
    if (at[SFB_LOCATION_FP].how == SFB_LOCATION_SAID)
        print_location(out->fp, sizeof out->fp, s, &at[SFB_LOCATION_FP]);
    else if (s->fixed_fp)
        print_saved(out->fp, sizeof out->fp, true, s->fixed_fp);
    if (at[SFB_LOCATION_RA].how == SFB_LOCATION_SAID)
        print_location(out->ra, sizeof out->ra, s, &at[SFB_LOCATION_RA]);
    else if (at[SFB_LOCATION_RA].how == SFB_LOCATION_PADDED)
        snprintf(out->ra, sizeof out->ra, "U");
    else
        snprintf(out->ra, sizeof out->ra, s->fixed_ra ? "f" : "u");
    return SFB_OK;
}

static enum sfb_status print_row(const struct sfb_section *s, const struct sfb_fde *f,
                                 const struct sfb_fre *r)
{
    /* Rows of a PCMASK function start at a byte of each block, not at an address. */
    const uint64_t start = f->type == SFB_FDE_PCMASK ? r->start : f->start + r->start;
    struct columns columns = { "", "", "" };
    char ra[40];

    if (r->offset_count == 0) {
        printf("    %016" PRIx64 "  RA undefined\n", start);
        return SFB_OK;
    }
    if (!f->flexible)
        describe_offsets(&columns, s, r);
    else if (describe_locations(&columns, s, r) != SFB_OK)
        return SFB_BAD_FRE;
    snprintf(ra, sizeof ra, "%s%s", columns.ra, r->mangled_ra ? "[s]" : "   ");
    printf("    %016" PRIx64 "  %-10s%-10s%-13s\n", start, columns.cfa, columns.fp, ra);
    return SFB_OK;
}

static enum sfb_status print_rows(const struct sfb_section *s, const struct sfb_fde *f,
                                  struct sfb_error *error)
{
    uint32_t position = f->fre_offset;

    for (uint32_t row = 0; row < f->fre_count; row++) {
        struct sfb_fre r;
        enum sfb_status status = sfb_fre_read(s, f, position, &r, error);

        if (status != SFB_OK)
            return status;
        status = print_row(s, f, &r);
        if (status != SFB_OK) {
            *error = (struct sfb_error){ status, "sfre_info", (uint64_t)s->fre_offset + position };
            return status;
        }
        position = r.position + r.size;
    }
    return SFB_OK;
}

enum sfb_status dump_text(const struct sfb_section *section, struct sfb_error *error)
{
    print_header(section);
    for (uint32_t i = 0; i < section->fde_count; i++) {
        struct sfb_fde f;
        enum sfb_status status = sfb_fde_read(section, i, &f, error);

        if (status != SFB_OK)
            return status;
        print_function(section, &f);
        status = print_rows(section, &f, error);
        if (status != SFB_OK)
            return status;
    }
    return SFB_OK;
}
