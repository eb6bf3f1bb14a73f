/*
 * Whether a reader takes a section: what its source refuses before it looks at a function, and where it
 * goes wrong on a section that others read. docs/QUIRKS.md and docs/FORMATS.md have the same.
 */
#include "toolchain/check/reader.h"

#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#include "toolchain/check/bytes.h"
#include "toolchain/check/check.h"

enum { V1 = 1 << 1, V2 = 1 << 2, V3 = 1 << 3 };

/* What glibc takes as it should be: the ABI, and where the tables begin. Flags beyond these three it refuses. */
enum {
    GLIBC_IGNORES = 1 << AT_HEADER_ABI | 1 << AT_HEADER_FDE_AT | 1 << AT_HEADER_FRE_AT,
    GLIBC_REFUSES = 0xff & ~(SFRAME_SORTED | SFRAME_FRAME_POINTER | SFRAME_START_PCREL)
};

/* Flags that libsframe does not know: it says that there is no SFrame data. */
enum {
    LIBSFRAME_240_REFUSES = 0xff & ~(SFRAME_SORTED | SFRAME_FRAME_POINTER),
    LIBSFRAME_247_REFUSES = LIBSFRAME_240_REFUSES & ~SFRAME_START_PCREL
};

static const struct check_reader readers[] = {
    { .name = "glibc-2.42",
      .versions = V2,
      .needs = SFRAME_SORTED,
      .refuses = GLIBC_REFUSES,
      .ignores = GLIBC_IGNORES,
      .needs_segment = true,
      .needs_plain = true,
      .divides = true },
    { .name = "glibc-2.43",
      .versions = V2,
      .needs = SFRAME_SORTED,
      .refuses = GLIBC_REFUSES,
      .ignores = GLIBC_IGNORES,
      .needs_segment = true,
      .needs_plain = true,
      .divides = true },
    { .name = "glibc-2.44",
      .versions = V2,
      .needs = SFRAME_SORTED,
      .refuses = GLIBC_REFUSES,
      .ignores = GLIBC_IGNORES,
      .needs_segment = true,
      .needs_plain = true,
      .divides = true },
    { .name = "libsframe-2.40", .versions = V1, .refuses = LIBSFRAME_240_REFUSES },
    { .name = "libsframe-2.44", .versions = V2, .refuses = LIBSFRAME_240_REFUSES, .divides = true },
    { .name = "libsframe-2.47",
      .versions = V2 | V3,
      .refuses = LIBSFRAME_247_REFUSES,
      .field_starts = true,
      .divides = true },
    /* kernel/unwind/sframe.c of the tree linux-mm, commit 01a27bfdd1bc4b63df55449565b2abb9dce83798 */
    { .name = "linux-unwind-user",
      .versions = V3,
      .needs = SFRAME_SORTED | SFRAME_START_PCREL,
      .needs_segment = true,
      .no_aux = true,
      .strict_rows = true,
      .no_flexible = true,
      .divides = true },
};

/* Rows that are looked at: functions of a forged section may share them all. */
enum { ROWS_MAX = 1 << 24 };

enum { READERS = sizeof readers / sizeof *readers };

const char *check_reader_names(char *out, size_t size)
{
    size_t used = 0;

    for (size_t i = 0; i < READERS && used < size; i++)
        used +=
            (size_t)snprintf(out + used, size - used, "%s%s", i > 0 ? ", " : "", readers[i].name);
    return out;
}

const struct check_reader *check_reader_find(const char *name)
{
    for (size_t i = 0; i < READERS; i++)
        if (strcmp(readers[i].name, name) == 0)
            return &readers[i];
    return NULL;
}

/* @return whether each part's header is taken */
static bool judge_header(struct check *c, const struct check_reader *r, const struct sframe_part *p)
{
    const struct finding_place flags = in_sframe(p->offset + AT_HEADER_FLAGS);
    bool good = true;

    if ((r->versions >> p->version->number & 1) == 0) {
        findings_add(c->findings, CODE_READER, in_sframe(p->offset + AT_HEADER_VERSION),
                     "%s does not read version %u", r->name, p->version->number);
        return false; /* all else is of that version */
    }
    if ((p->flags & r->needs) != r->needs) {
        findings_add(c->findings, CODE_READER, flags, "%s refuses flags 0x%x: it needs 0x%x",
                     r->name, p->flags, r->needs);
        good = false;
    }
    if ((p->flags & r->refuses) != 0) {
        findings_add(c->findings, CODE_READER, flags,
                     "%s refuses flags 0x%x: it does not know 0x%x", r->name, p->flags,
                     p->flags & r->refuses);
        good = false;
    }
    if (r->field_starts && !p->version->always_pcrel && (p->flags & SFRAME_START_PCREL) == 0) {
        findings_add(c->findings, CODE_READER, flags,
                     "%s takes starts for field-relative, and no flag says that they are", r->name);
        good = false;
    }
    if (r->no_aux && p->aux_size != 0) {
        findings_add(c->findings, CODE_READER, in_sframe(p->offset + AT_HEADER_AUX),
                     "%s refuses an auxiliary header", r->name);
        good = false;
    }
    if (r->needs_plain && (p->aux_size != 0 || p->fde_at != SFRAME_HEADER_SIZE)) {
        findings_add(c->findings, CODE_READER, in_sframe(p->offset + AT_HEADER_AUX),
                     "%s looks for entries at 0x%x, and they are at 0x%" PRIx64, r->name,
                     SFRAME_HEADER_SIZE, p->fde_at);
        good = false;
    }
    return good;
}

/* @return whether each row starts behind the one before it */
static bool ascends(const struct sframe_part *p, const struct sframe_entry *e, uint64_t *budget)
{
    uint64_t at = sframe_first_row(p, e), last = 0;
    struct sframe_row row;

    for (uint32_t i = 0;
         i<e->row_count && * budget> 0 && sframe_row_read(&row, p, e, at) == ROW_READ; i++) {
        --*budget;
        if (i > 0 && row.start <= last)
            return false;
        last = row.start;
        at = (uint64_t)row.at + row.size;
    }
    return true;
}

/* @return whether no function stops the reader */
static bool judge_functions(struct check *c, const struct check_reader *r,
                            const struct sframe_part *p)
{
    uint64_t budget = ROWS_MAX;
    bool good = true;

    for (uint32_t i = 0; i < p->fde_count; i++) {
        const struct sframe_entry *e = &p->entries[i];

        if (r->divides && p->version->has_repeat_size && (e->info & FUNCTION_PCMASK) != 0 &&
            e->repeat == 0) {
            findings_add(c->findings, CODE_READER, place_of_entry(p, e, FIELD_REPEAT),
                         "%s divides by the repeat size 0", r->name);
            good = false;
        }
        if (r->no_flexible && p->version->has_attribute && sframe_is_flex(e)) {
            findings_add(c->findings, CODE_READER, place_of_entry(p, e, FIELD_INFO2),
                         "%s refuses flexible rows", r->name);
            good = false;
        }
        if (r->strict_rows && !ascends(p, e, &budget)) {
            findings_add(c->findings, CODE_READER, place_of_entry(p, e, FIELD_START),
                         "%s refuses rows that do not ascend", r->name);
            good = false;
        }
    }
    return good;
}

/* A reader knows no cause: it reads the section as it stands. @return whether the fault does not stop it */
static bool judge_cause(struct check *c, const struct check_reader *r)
{
    const bool ignored =
        (c->cause == CODE_CAUSE_HEADER && (r->ignores >> c->cause_field & 1) != 0) ||
        (c->cause == CODE_CAUSE_ADDRESS && r->needs_segment);

    if (c->cause == 0 || ignored)
        return true;
    findings_add(c->findings, CODE_READER, in_sframe(0),
                 "%s reads the section as it stands, with the fault SF%04u", r->name, c->cause);
    return false;
}

/* Offsets as they stand: a cause may have put others in their place. */
static bool judge_offsets(struct check *c, const struct check_reader *r)
{
    const bool big = c->part_count > 0 && c->parts[0].big;
    const uint8_t *header = c->object ? c->object->image + c->result->section_at : c->data;

    if (!r->needs_plain || c->size < SFRAME_HEADER_SIZE ||
        bytes_load(header + AT_HEADER_FDE_AT, 4, big) <=
            bytes_load(header + AT_HEADER_FRE_AT, 4, big))
        return true;
    findings_add(c->findings, CODE_READER, in_sframe(AT_HEADER_FDE_AT),
                 "%s refuses entries behind the rows", r->name);
    return false;
}

void check_for_reader(struct check *c)
{
    const struct check_reader *r = c->options->reader;
    bool good = c->part_count > 0;

    if (!r)
        return;
    if (c->part_count > 1)
        findings_add(c->findings, CODE_READER, in_sframe(c->parts[1].offset),
                     "%s reads the first of %zu sections", r->name, c->part_count);
    if (r->needs_segment && c->object && !c->object->relocatable &&
        !object_segment(c->object, SFB_PT_GNU_SFRAME)) {
        findings_add(c->findings, CODE_READER, in_file(0), "%s finds the section by PT_GNU_SFRAME",
                     r->name);
        good = false;
    }
    good = judge_cause(c, r) && good;
    good = judge_offsets(c, r) && good;
    for (size_t i = 0; i < c->part_count; i++) {
        const struct sframe_part *p = &c->parts[i];

        if (p->fde_count == 0) {
            findings_add(c->findings, CODE_READER, in_sframe(p->offset + AT_HEADER_FDES),
                         "%s finds no function", r->name);
            good = false;
        }

        if (judge_header(c, r, p))
            good &= judge_functions(c, r, p);
        else
            good = false;
    }
    if (c->part_count == 0)
        findings_add(c->findings, CODE_READER, in_sframe(0), "%s cannot read the header", r->name);
    else if (good && c->part_count == 1)
        findings_add(c->findings, CODE_READER_TAKES, in_sframe(0), "%s", r->name);
}
