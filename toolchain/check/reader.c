/*
 * Whether a reader takes a section: what its source refuses before it looks at a function, and where it
 * goes wrong on a section that others read. docs/QUIRKS.md and docs/FORMATS.md have the same.
 */
#include "toolchain/check/reader.h"

#include <inttypes.h>
#include <string.h>

#include "toolchain/check/check.h"

enum { V1 = 1 << 1, V2 = 1 << 2, V3 = 1 << 3 };

static const struct check_reader readers[] = {
    { .name = "glibc-2.42",
      .versions = V2,
      .needs = SFRAME_SORTED,
      .needs_segment = true,
      .needs_plain = true,
      .divides = true },
    { .name = "glibc-2.43",
      .versions = V2,
      .needs = SFRAME_SORTED,
      .needs_segment = true,
      .needs_plain = true,
      .divides = true },
    { .name = "glibc-2.44",
      .versions = V2,
      .needs = SFRAME_SORTED,
      .needs_segment = true,
      .needs_plain = true,
      .divides = true },
    { .name = "libsframe-2.40", .versions = V1 },
    { .name = "libsframe-2.44", .versions = V2, .refuses = SFRAME_START_PCREL, .divides = true },
    { .name = "libsframe-2.47", .versions = V2 | V3, .field_starts = true, .divides = true },
    { .name = "linux-unwind-user",
      .versions = V3,
      .needs = SFRAME_SORTED | SFRAME_START_PCREL,
      .needs_segment = true,
      .needs_plain = true,
      .no_flexible = true },
};

enum { READERS = sizeof readers / sizeof *readers };

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
    if (r->needs_plain && (p->aux_size != 0 || p->fde_at != SFRAME_HEADER_SIZE)) {
        findings_add(c->findings, CODE_READER, in_sframe(p->offset + AT_HEADER_AUX),
                     "%s looks for entries at 0x%x, and they are at 0x%" PRIx64, r->name,
                     SFRAME_HEADER_SIZE, p->fde_at);
        good = false;
    }
    return good;
}

/* @return whether no function stops the reader */
static bool judge_functions(struct check *c, const struct check_reader *r,
                            const struct sframe_part *p)
{
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
    }
    return good;
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
    for (size_t i = 0; i < c->part_count; i++) {
        const struct sframe_part *p = &c->parts[i];

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
