/* Level 3: functions against the code, the symbols and the linkage tables of the file. */
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include <sfb/abi.h>

#include "toolchain/check/check.h"
#include "toolchain/check/where.h"
#include "util/counted.h"

/* ---- the base of starts ---- */

struct landing {
    uint32_t in_code, at_symbol;
};

/* Counts functions in the code, and at the start of a symbol. */
static struct landing land(const struct check *c, struct sframe_part *p, bool from_fields)
{
    struct landing n = { 0, 0 };

    sframe_part_place(p, from_fields);
    for (uint32_t i = 0; i < p->fde_count; i++) {
        const struct sframe_entry *e = &p->entries[i];
        const struct object_label *s = object_label_before(c->object, e->start);

        n.in_code += object_is_code(c->object, e->start, e->start + e->size);
        n.at_symbol += s && s->start == e->start;
    }
    return n;
}

/*
 * Linkers that do not know the section keep starts and flags of the object files: no bit says so.
 * Small programs lie in the code either way.
 */
static bool looks_unmerged(const struct check *c, struct sframe_part *p)
{
    const struct landing section = land(c, p, false), fields = land(c, p, true);

    if (section.in_code != fields.in_code)
        return fields.in_code > section.in_code;
    if (section.at_symbol != fields.at_symbol)
        return fields.at_symbol > section.at_symbol;
    return fields.in_code > 0 && !object_segment(c->object, SFB_PT_GNU_SFRAME);
}

/* The sizes of the symbols that begin where the functions do. */
static void take_sizes(const struct object *o, struct sframe_part *p)
{
    for (uint32_t i = 0; i < p->fde_count; i++) {
        const struct object_label *s = object_label_before(o, p->entries[i].start);

        if (s && s->start == p->entries[i].start && s->end > s->start)
            p->entries[i].size = (uint32_t)(s->end - s->start);
    }
}

void check_place_functions(struct check *c)
{
    for (size_t i = 0; i < c->part_count; i++) {
        struct sframe_part *p = &c->parts[i];
        const unsigned flags = p->flags & (unsigned)p->version->flags;
        bool from_fields = p->version->always_pcrel || (flags & SFRAME_START_PCREL) != 0 ||
                           (c->object && c->object->relocatable);

        from_fields ^= c->reading.other_starts;
        if (!from_fields && !c->reading.other_starts && c->object && (flags & SFRAME_SORTED) == 0 &&
            p->fde_count > 0 && looks_unmerged(c, p)) {
            from_fields = true;
            findings_add(
                c->findings, CODE_FIELD_RELATIVE, place_of_entry(p, &p->entries[0], FIELD_START),
                "%s where code is only if it is so", counted(p->fde_count, "functions are").text);
        }
        sframe_part_place(p, from_fields);
        sframe_part_shift(p, c->reading.shift);
        c->no_memory |= !sframe_part_fix_starts(p);
        if (fix_is(p->fix, FIX_SIZE_KNOWN) && c->object)
            take_sizes(c->object, p);
    }
}

/* ---- code and symbols ---- */

/* @return whether it lies in the code */
static bool judge_code(struct check *c, const struct sframe_part *p, const struct sframe_entry *e)
{
    const struct finding_place at = place_of_entry(p, e, FIELD_START);
    const uint64_t field = sframe_entry_at(p, e->index) - p->offset + p->address;

    if (object_is_code(c->object, e->start, e->start + e->size))
        return true;
    if (c->object->relocatable && e->raw_start == 0)
        return false; /* a missing relocation, reported elsewhere */
    if (e->start == 0 || e->start == field || e->start == c->address)
        findings_add(c->findings, CODE_DISCARDED, at, "%s, 0x%" PRIx32 " bytes",
                     where_address(c->object, e->start).text, e->size);
    else
        findings_add(c->findings, CODE_NOT_CODE, at, "%s, 0x%" PRIx32 " bytes",
                     where_address(c->object, e->start).text, e->size);
    return false;
}

static void find_plts(struct check *c)
{
    static const char *const names[CHECK_PLT_MAX] = { ".plt", ".plt.sec", ".plt.got", ".iplt" };
    const struct object *o = c->object;

    for (size_t i = 0; i < CHECK_PLT_MAX && !o->relocatable; i++) {
        const size_t index = object_section_after(o, 0, names[i]);

        if (index != 0 &&
            object_is_code(o, o->sections[index].address,
                           o->sections[index].address + o->sections[index].header.sh_size))
            c->plt[c->plt_count++] = index;
    }
}

static const struct object_section *plt_at(const struct check *c, uint64_t address)
{
    for (size_t i = 0; i < c->plt_count; i++) {
        const struct object_section *s = &c->object->sections[c->plt[i]];

        if (address >= s->address && address - s->address < s->header.sh_size)
            return s;
    }
    return NULL;
}

/* All functions, ascending by their starts. */
struct functions {
    struct check_function *list;
    size_t count;
};

static bool has_entry(const struct functions *all, uint64_t start)
{
    size_t low = 0, high = all->list ? all->count : 0;

    while (low < high) {
        const size_t middle = low + (high - low) / 2;

        if (all->list[middle].entry->start == start)
            return true;
        if (all->list[middle].entry->start < start)
            low = middle + 1;
        else
            high = middle;
    }
    return false;
}

/*
 * A function may continue inside a symbol with an entry at its start: sfb synth begins another
 * function behind inexpressible code. Overlapping the first one is a fault.
 */
static void judge_symbol(struct check *c, const struct functions *all, const struct sframe_part *p,
                         const struct sframe_entry *e)
{
    const struct object_label *s = object_label_before(c->object, e->start);
    const struct finding_place at = place_of_entry(p, e, FIELD_START);

    if (!s || (s->start != e->start && s->end <= e->start))
        findings_add(c->findings, CODE_NO_SYMBOL, at, "%s",
                     where_address(c->object, e->start).text);
    else if (s->start != e->start && !has_entry(all, s->start))
        findings_add(c->findings, CODE_IN_SYMBOL, at, "%s, 0x%" PRIx64 " bytes into %s",
                     where_address(c->object, e->start).text, e->start - s->start, s->name);
    else if (s->end > s->start && e->size > s->end - e->start)
        findings_add(c->findings, CODE_PAST_SYMBOL, place_of_entry(p, e, FIELD_SIZE),
                     "%s, %s has %" PRIu64, counted(e->size, "bytes").text, s->name,
                     s->end - e->start);
}

/* ---- linkage tables ---- */

/* Whether the function begins with the row that holds after a call. */
static bool begins_like_entry(const struct sframe_part *p, const struct sframe_entry *e)
{
    struct sframe_row r;

    return !e->rows_lost && e->row_count > 0 &&
           sframe_row_read(&r, p, e, sframe_first_row(p, e)) == ROW_READ && r.count > 0 &&
           (r.info & ROW_BASE_SP) != 0 && r.word[0] == 8;
}

static void judge_pcmask(struct check *c, const struct sframe_part *p, const struct sframe_entry *e)
{
    const bool mask = (e->info & FUNCTION_PCMASK) != 0;
    const struct object_section *plt = plt_at(c, e->start);

    if (p->abi != SFB_ABI_AMD64_LE && p->abi != SFRAME_ABI_S390X)
        return;
    if (mask && !plt)
        findings_add(c->findings, CODE_PCMASK_PLACE, place_of_entry(p, e, FIELD_INFO), "%s",
                     where_address(c->object, e->start).text);
    if (!mask && plt && begins_like_entry(p, e) && strcmp(plt->name, ".plt") == 0)
        findings_add(c->findings, CODE_PLT_PCINC, place_of_entry(p, e, FIELD_INFO), "%s, in %s",
                     where_address(c->object, e->start).text, plt->name);
}

/* Bytes of [start, end) that functions cover; they ascend. */
static uint64_t covered(const struct check_function *all, size_t count, uint64_t start,
                        uint64_t end)
{
    uint64_t sum = 0, at = start;

    for (size_t i = 0; i < count && all[i].entry->start < end; i++) {
        uint64_t low = all[i].entry->start, high = low + all[i].entry->size;

        low = low < at ? at : low;
        high = high > end ? end : high;
        if (low < high) {
            sum += high - low;
            at = high;
        }
    }
    return sum;
}

static void judge_plts(struct check *c, const struct functions *all)
{
    const struct object *o = c->object;

    for (size_t i = 0; i < c->plt_count; i++) {
        const struct object_section *s = &o->sections[c->plt[i]];
        const uint64_t size = s->header.sh_size;
        const struct finding_place at = of_pc(in_file(s->header.sh_offset), s->address);
        const uint64_t bytes =
            covered(all->list, all->list ? all->count : 0, s->address, s->address + size);

        if (bytes == 0)
            findings_add(c->findings, CODE_PLT_UNCOVERED, at, "%s, %s", s->name,
                         counted(size, "bytes").text);
        else if (bytes < size)
            findings_add(c->findings, CODE_PLT_PARTLY, at, "%s, %s of %" PRIu64, s->name,
                         counted(bytes, "bytes").text, size);
    }
}

void check_places(struct check *c)
{
    struct functions all;

    all.list = check_functions_sorted(c, &all.count);
    find_plts(c);
    for (size_t i = 0; i < c->part_count; i++) {
        const struct sframe_part *p = &c->parts[i];

        for (uint32_t k = 0; k < p->fde_count; k++) {
            const struct sframe_entry *e = &p->entries[k];

            if (!judge_code(c, p, e))
                continue;
            if (c->object->label_count > 0 && !plt_at(c, e->start))
                judge_symbol(c, &all, p, e);
            if (c->object->section_count > 0 && !c->object->relocatable)
                judge_pcmask(c, p, e);
        }
    }
    if (c->object->relocatable)
        check_relocations(c);
    else
        judge_plts(c, &all);
    free(all.list);
}
