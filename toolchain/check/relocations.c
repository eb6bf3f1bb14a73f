/* Level 3, object files: each start has one relocation, and no other field has any. */
#include <inttypes.h>

#include "toolchain/check/bytes.h"
#include "toolchain/check/check.h"
#include "util/counted.h"

static bool is_start_type(const struct check *c, const struct sframe_part *p, uint32_t type)
{
    uint32_t wanted;

    return !object_start_type(c->object, p->version->start_size, &wanted) || type == wanted;
}

static void judge_target(struct check *c, const struct sframe_part *p, const struct sframe_entry *e,
                         const struct object_relocation *r)
{
    const struct finding_place at = place_of_entry(p, e, FIELD_START);

    if (!is_start_type(c, p, r->type))
        findings_add(c->findings, CODE_RELOCATION_TYPE, at, "type %" PRIu32, r->type);
    else if (!r->to_code)
        findings_add(c->findings, CODE_RELOCATION_SYMBOL, at, "'%s'", r->symbol);
    if (!bytes_are_zero(c->data + r->place, p->version->start_size))
        findings_add(c->findings, CODE_PLACE_NOT_ZERO, at, "relocated to '%s'", r->symbol);
}

/* Both lists ascend: entries by their place in the section, relocations by theirs. */
void check_relocations(struct check *c)
{
    const struct object_copy *o = &c->copy;
    size_t next = 0;

    for (size_t i = 0; i < c->part_count; i++) {
        const struct sframe_part *p = &c->parts[i];

        for (uint32_t k = 0; k < p->fde_count; k++) {
            const struct sframe_entry *e = &p->entries[k];
            const uint64_t field = sframe_field_at(p, e, FIELD_START);

            for (; next < o->relocation_count && o->relocations[next].place < field; next++)
                findings_add(c->findings, CODE_RELOCATION_PLACE,
                             in_sframe(o->relocations[next].place), "'%s'",
                             o->relocations[next].symbol);
            if (next == o->relocation_count || o->relocations[next].place != field) {
                findings_add(c->findings, CODE_NO_RELOCATION, place_of_entry(p, e, FIELD_START),
                             "%s of code", counted(e->size, "bytes").text);
                continue;
            }
            judge_target(c, p, e, &o->relocations[next++]);
            for (; next < o->relocation_count && o->relocations[next].place == field; next++)
                findings_add(c->findings, CODE_RELOCATION_TWICE, place_of_entry(p, e, FIELD_START),
                             "also to '%s'", o->relocations[next].symbol);
        }
    }
    for (; next < o->relocation_count; next++)
        findings_add(c->findings, CODE_RELOCATION_PLACE, in_sframe(o->relocations[next].place),
                     "'%s'", o->relocations[next].symbol);
}
