#include "symbols/units.h"

#include <dwarf.h>
#include <stdlib.h>

#include "symbols/inlines.h"
#include "util/grow.h"

/* Units of a forged file may share one long list of ranges. */
enum { RANGES_MAX = 1 << 23 };

static bool add_unit(struct object_units *units, Dwarf_Off offset)
{
    struct object_unit *at =
        array_grow(units->at, units->count, &units->room, sizeof *at, OBJECT_NO_SPAN);

    if (!at)
        return false;
    units->at = at;
    units->at[units->count++] = (struct object_unit){ .offset = offset };
    return true;
}

static int by_offset(const void *a, const void *b)
{
    const struct object_unit *x = a, *y = b;

    return x->offset < y->offset ? -1 : x->offset > y->offset;
}

static struct object_unit *find_listed(const struct object_units *units, Dwarf_Off offset)
{
    const struct object_unit wanted = { .offset = offset };

    return units->listed_count == 0
               ? NULL
               : bsearch(&wanted, units->at, units->listed_count, sizeof *units->at, by_offset);
}

/* Ranges come by address, so a unit comes many times. */
static bool list_units(struct object_units *units, Dwarf_Aranges *ranges, size_t count)
{
    Dwarf_Off offset, last = (Dwarf_Off)-1;
    size_t kept = 0;

    for (size_t i = 0; i < count; i++) {
        if (dwarf_getarangeinfo(dwarf_onearange(ranges, i), NULL, NULL, &offset) != 0 ||
            offset == last)
            continue;
        if (!add_unit(units, offset))
            return false;
        last = offset;
    }
    if (units->count > 0)
        qsort(units->at, units->count, sizeof *units->at, by_offset);
    for (size_t i = 0; i < units->count; i++)
        if (kept == 0 || units->at[kept - 1].offset != units->at[i].offset)
            units->at[kept++] = units->at[i];
    units->count = units->listed_count = kept;
    return true;
}

static bool list_ranges(struct object_units *units, Dwarf_Aranges *aranges, size_t count)
{
    struct object_ranges ranges = { NULL, 0, 0 };
    Dwarf_Addr start;
    Dwarf_Word size;
    Dwarf_Off offset;

    for (size_t i = 0; i < count; i++) {
        const struct object_unit *unit;

        if (dwarf_getarangeinfo(dwarf_onearange(aranges, i), &start, &size, &offset) != 0 ||
            !object_code_has(units->code, start) || !(unit = find_listed(units, offset)))
            continue;
        if (!object_ranges_add(&ranges, start, start + size, (uint32_t)(unit - units->at))) {
            object_ranges_free(&ranges);
            return false;
        }
    }
    return object_spans_make(&units->listed, &ranges, OBJECT_LOWEST_ID);
}

bool object_units_make(struct object_units *out, Dwarf *dwarf, const struct object_code *code)
{
    Dwarf_Aranges *ranges = NULL;
    size_t count = 0;

    *out = (struct object_units){ .dwarf = dwarf, .code = code };
    if (dwarf_getaranges(dwarf, &ranges, &count) != 0)
        return true;
    if (list_units(out, ranges, count) && list_ranges(out, ranges, count))
        return true;
    object_units_free(out);
    return false;
}

/* @param budget  ranges that may still be added */
static bool add_ranges_of(struct object_units *units, struct object_ranges *ranges, Dwarf_Die *unit,
                          size_t *budget)
{
    Dwarf_Addr base = 0, start, end;
    ptrdiff_t next = 0;

    while (*budget > 0 && (next = dwarf_ranges(unit, next, &base, &start, &end)) > 0) {
        (*budget)--;
        if (object_code_has(units->code, start) &&
            !object_ranges_add(ranges, start, end, (uint32_t)(units->count - 1)))
            return false;
    }
    return true;
}

static bool collect_others(struct object_units *units)
{
    struct object_ranges ranges = { NULL, 0, 0 };
    size_t budget = RANGES_MAX;
    Dwarf_CU *cu = NULL;
    Dwarf_Die die;
    uint8_t type;

    while (dwarf_get_units(units->dwarf, cu, &cu, NULL, &type, &die, NULL) == 0) {
        if ((type != DW_UT_compile && type != DW_UT_skeleton) ||
            find_listed(units, dwarf_dieoffset(&die)))
            continue;
        if (!add_unit(units, dwarf_dieoffset(&die)) ||
            !add_ranges_of(units, &ranges, &die, &budget)) {
            object_ranges_free(&ranges);
            return false;
        }
    }
    return object_spans_make(&units->others, &ranges, OBJECT_LOWEST_ID);
}

struct object_unit *object_units_find(struct object_units *units, uint64_t address)
{
    uint32_t id = object_spans_find(&units->listed, address);

    if (id == OBJECT_NO_SPAN) {
        if (!units->others_known && !collect_others(units))
            return NULL;
        units->others_known = true;
        id = object_spans_find(&units->others, address);
    }
    return id == OBJECT_NO_SPAN ? NULL : &units->at[id];
}

void object_units_free(struct object_units *units)
{
    for (size_t i = 0; i < units->count; i++)
        object_inlines_free(units->at[i].inlines);
    free(units->at);
    object_spans_free(&units->listed);
    object_spans_free(&units->others);
    *units = (struct object_units){ .dwarf = NULL };
}
