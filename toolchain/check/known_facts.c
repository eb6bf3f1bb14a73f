#include "toolchain/check/known_facts.h"

#include <stdlib.h>
#include <string.h>

#include "toolchain/check/cfi.h"
#include "toolchain/check/cfi_marks.h"

static const struct cfi *cfi_of(const struct check *c)
{
    struct known_facts *facts = c->facts;
    struct object_cfi_place place;

    if (!facts || facts->asked || !c->object)
        return facts ? facts->cfi : NULL;
    facts->asked = true;
    place = object_find_cfi(c->object);
    facts->cfi = place.result == OBJECT_CFI_FOUND ? calloc(1, sizeof *facts->cfi) : NULL;
    if (facts->cfi && !cfi_open(facts->cfi, c->object, &place, NULL, NULL)) {
        cfi_close(facts->cfi);
        free(facts->cfi);
        facts->cfi = NULL;
    }
    return facts->cfi;
}

/* The function of .eh_frame at a pc. */
static const struct cfi_function *function_at(const struct cfi *cfi, uint64_t pc)
{
    size_t low = 0, high = cfi ? cfi->count : 0;
    const struct cfi_function *f;

    while (low < high) {
        const size_t middle = low + (high - low) / 2;

        if (cfi->functions[middle].start <= pc)
            low = middle + 1;
        else
            high = middle;
    }
    f = low > 0 ? &cfi->functions[low - 1] : NULL;
    return f && pc < f->end ? f : NULL;
}

static unsigned marks_at(const struct check *c, uint64_t pc)
{
    const struct cfi *cfi = cfi_of(c);
    const struct cfi_function *f = function_at(cfi, pc);

    return f && !f->refused ? cfi_marks(cfi->copy.bytes, &f->fde, cfi->abi) : 0;
}

static bool is_signal(const struct check *c, uint64_t pc)
{
    const struct cfi_function *f = function_at(cfi_of(c), pc);

    return f && f->fde.signal;
}

static bool is_empty(const struct check *c, uint64_t pc)
{
    const struct cfi *cfi = cfi_of(c);

    for (size_t i = 0; cfi && i < cfi->empty_count; i++)
        if (cfi->empty[i] == pc)
            return true;
    return false;
}

static size_t relocations(const struct object *o)
{
    size_t index = 0, n = 0;

    while ((index = object_section_after(o, index, ".rela.sframe")) != 0)
        n += o->sections[index].header.sh_size / sizeof(Elf64_Rela);
    return n;
}

static bool is_merged(const struct check *c)
{
    const struct sframe_part *p = c->parts;

    return c->object->relocatable && c->part_count == 1 && (p->flags & SFRAME_SORTED) != 0 &&
           relocations(c->object) == p->fde_count;
}

bool known_left_out(const struct check *c, uint64_t pc)
{
    return (marks_at(c, pc) & (CFI_ARGS_SIZE | CFI_FP_ALONE)) != 0;
}

bool known_fact_holds(const struct check *c, const struct finding *f, enum known_fact fact)
{
    static const unsigned marks[] = {
        [FACT_ARGS_SIZE] = CFI_ARGS_SIZE,
        [FACT_NESTED] = CFI_NESTED,
        [FACT_REMEMBER_LATE] = CFI_REMEMBER_LATE,
        [FACT_NO_ADVANCE] = CFI_NO_ADVANCE,
        [FACT_OTHER_CFA] = CFI_OTHER_CFA,
        [FACT_RA_OFFSET] = CFI_RA_OFFSET,
        [FACT_RA_REGISTER] = CFI_RA_REGISTER,
        [FACT_RA_UNDEFINED] = CFI_RA_UNDEFINED,
        [FACT_FP_SAME] = CFI_FP_SAME,
        [FACT_FP_ALONE] = CFI_FP_ALONE,
        [FACT_PAST_END] = CFI_PAST_END,
        [FACT_SIMPLE] = CFI_SIMPLE,
    };

    switch (fact) {
    case FACT_NONE: return true;
    case FACT_SIGNAL: return f->place.has_pc && is_signal(c, f->place.pc);
    case FACT_EMPTY: return f->place.has_pc && is_empty(c, f->place.pc);
    case FACT_OBJECT: return c->object->relocatable;
    case FACT_MERGED: return is_merged(c);
    case FACT_LEFT_OUT: return c->lost_left_out;
    case FACT_STRETCH: return c->lost_stretch;
    case FACT_DISCARDED:
        return c->size == 0 && c->result->has_section && !c->object->relocatable &&
               !object_segment(c->object, SFB_PT_GNU_SFRAME);
    case FACT_PLT_SEC: return object_section_after(c->object, 0, ".plt.sec") != 0;
    case FACT_ARGS_SIZE:
    case FACT_NESTED:
    case FACT_REMEMBER_LATE:
    case FACT_NO_ADVANCE:
    case FACT_OTHER_CFA:
    case FACT_RA_OFFSET:
    case FACT_RA_REGISTER:
    case FACT_RA_UNDEFINED:
    case FACT_FP_SAME:
    case FACT_FP_ALONE:
    case FACT_PAST_END:
    case FACT_SIMPLE: return f->place.has_pc && (marks_at(c, f->place.pc) & marks[fact]) != 0;
    }
    return false;
}

void known_facts_free(struct known_facts *facts)
{
    if (facts->cfi)
        cfi_close(facts->cfi);
    free(facts->cfi);
    facts->cfi = NULL;
}
