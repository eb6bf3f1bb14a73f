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

/* Relocations that are on no start: ld -r moves the entries only. */
static size_t misplaced(const struct check *c, const struct sframe_part *p)
{
    size_t n = 0;

    for (size_t i = 0; i < c->copy.relocation_count; i++) {
        const uint64_t place = c->copy.relocations[i].place;

        n += place < p->fde_at || (place - p->fde_at) % p->version->entry_size != 0 ||
             (place - p->fde_at) / p->version->entry_size >= p->fde_count;
    }
    return n;
}

static bool is_merged(const struct check *c)
{
    const struct sframe_part *p = c->parts;

    return c->object->relocatable && c->part_count == 1 && (p->flags & SFRAME_SORTED) != 0 &&
           c->copy.relocation_count == p->fde_count && misplaced(c, p) > 0;
}

bool known_left_out(const struct check *c, uint64_t pc)
{
    return (marks_at(c, pc) & (CFI_ARGS_SIZE | CFI_FP_ALONE | CFI_EXPRESSION)) != 0;
}

/*
 * Whether a stretch of code is all that object files have: a table that a linker drops is that of whole files.
 * Without local symbols nothing says so.
 */
static bool is_whole(const struct object *o, struct object_range lost)
{
    unsigned files = 0;
    bool *of_file, whole = false;

    for (size_t i = 0; i < o->label_count; i++)
        if (o->labels[i].file > files)
            files = o->labels[i].file;
    of_file = calloc(files + 1, sizeof *of_file);
    for (size_t i = 0; of_file && i < o->label_count; i++)
        if (o->labels[i].start >= lost.start && o->labels[i].start < lost.end &&
            o->labels[i].file > 0)
            whole = of_file[o->labels[i].file] = true;
    for (size_t i = 0; whole && i < o->label_count; i++)
        whole = !of_file[o->labels[i].file] ||
                (o->labels[i].start >= lost.start && o->labels[i].start < lost.end);
    free(of_file);
    return whole;
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
    case FACT_WHOLE: return is_whole(c->object, c->lost_at);
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
