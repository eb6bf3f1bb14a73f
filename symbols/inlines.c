#include "symbols/inlines.h"

#include <dwarf.h>
#include <stdlib.h>

#include "symbols/entries.h"
#include "util/grow.h"

enum {
    DEPTH_MAX = 512,     /* deeper entries count as part of the one at this depth */
    RANGES_MAX = 1 << 23 /* entries of a forged unit may share one long list */
};

/* The enclosing entries of the current one. */
struct walk {
    struct object_inlines *inlines;
    const struct object_code *code;
    struct object_ranges ranges;
    size_t budget;
    uint32_t around[DEPTH_MAX]; /* the enclosing function at each depth */
};

static bool add(struct object_inlines *inlines, const struct object_inline *one)
{
    struct object_inline *at =
        array_grow(inlines->at, inlines->count, &inlines->room, sizeof *at, OBJECT_NO_SPAN);

    if (!at)
        return false;
    inlines->at = at;
    inlines->at[inlines->count++] = *one;
    return true;
}

static bool add_range(struct walk *walk, uint64_t start, uint64_t end)
{
    struct object_inline *one = &walk->inlines->at[walk->inlines->count - 1];

    if (walk->budget == 0 || !object_code_has(walk->code, start))
        return true;
    walk->budget--;
    if (one->start == 0)
        one->start = start;
    return object_ranges_add(&walk->ranges, start, end, (uint32_t)(walk->inlines->count - 1));
}

static bool add_ranges(struct walk *walk, const struct object_entry *entry)
{
    Dwarf_Die die = { .addr = (void *)(uintptr_t)entry->at, .cu = walk->inlines->cu };
    Dwarf_Addr base = 0, start, end;
    ptrdiff_t next = 0;

    if (!entry->has_ranges)
        return add_range(walk, entry->start, entry->end);
    while (walk->budget > 0 && (next = dwarf_ranges(&die, next, &base, &start, &end)) > 0)
        if (!add_range(walk, start, end))
            return false;
    return true;
}

static bool visit(struct walk *walk, const struct object_entry *entry)
{
    const size_t depth = entry->depth < DEPTH_MAX ? entry->depth : DEPTH_MAX - 1;
    uint32_t around = depth > 0 ? walk->around[depth] : OBJECT_NO_SPAN;
    const bool inlined = entry->tag == DW_TAG_inlined_subroutine;

    if (entry->tag == DW_TAG_subprogram && !entry->has_code) {
        around = OBJECT_NO_SPAN; /* a declaration, or an abstract instance */
    } else if (entry->tag == DW_TAG_subprogram || (inlined && around != OBJECT_NO_SPAN)) {
        const struct object_inline one = { .at = entry->at,
                                           .parent = inlined ? around : OBJECT_NO_SPAN,
                                           .call_file = entry->call_file,
                                           .call_line = entry->call_line,
                                           .call_column = entry->call_column,
                                           .inlined = inlined };

        if (!add(walk->inlines, &one) || (entry->has_code && !add_ranges(walk, entry)))
            return false;
        around = (uint32_t)(walk->inlines->count - 1);
    }
    if (depth + 1 < DEPTH_MAX)
        walk->around[depth + 1] = around;
    return true;
}

static bool walk_unit(struct object_inlines *inlines, Dwarf_Die *unit,
                      const struct object_code *code)
{
    struct walk walk = { .inlines = inlines, .code = code, .budget = RANGES_MAX };
    struct object_entries entries;
    struct object_entry entry;
    bool done = true;

    walk.around[0] = OBJECT_NO_SPAN;
    object_entries_open(&entries, unit);
    while (done && object_entries_next(&entries, &entry))
        done = visit(&walk, &entry);
    done = done && !entries.no_memory &&
           object_spans_make(&inlines->spans, &walk.ranges, OBJECT_LAST_START);
    object_entries_close(&entries);
    object_ranges_free(&walk.ranges);
    return done;
}

static const char *string_of(Dwarf_Die *die, unsigned name)
{
    Dwarf_Attribute attribute;

    return dwarf_formstring(dwarf_attr_integrate(die, name, &attribute));
}

struct object_inlines *object_inlines_make(Dwarf_Die *unit, const struct object_code *code)
{
    struct object_inlines *inlines = calloc(1, sizeof *inlines);
    Dwarf_Die split = { .addr = NULL };
    uint8_t type = 0;

    if (!inlines)
        return NULL;
    inlines->lines = *unit;
    inlines->directory = string_of(unit, DW_AT_comp_dir);
    /* A request for the split unit makes libdw look for the .dwo file. */
    if (dwarf_cu_info(unit->cu, NULL, &type, NULL, NULL, NULL, NULL, NULL) == 0 &&
        type == DW_UT_skeleton)
        dwarf_cu_info(unit->cu, NULL, NULL, NULL, &split, NULL, NULL, NULL);
    inlines->cu = split.cu ? split.cu : unit->cu;
    if (walk_unit(inlines, split.cu ? &split : unit, code))
        return inlines;
    object_inlines_free(inlines);
    return NULL;
}

uint32_t object_inlines_find(const struct object_inlines *inlines, uint64_t address)
{
    return object_spans_find(&inlines->spans, address);
}

const char *object_inlines_name(struct object_inlines *inlines, uint32_t id)
{
    struct object_inline *one = &inlines->at[id];
    Dwarf_Die die = { .addr = (void *)(uintptr_t)one->at, .cu = inlines->cu };

    if (!one->name)
        one->name = string_of(&die, DW_AT_linkage_name);
    if (!one->name)
        one->name = string_of(&die, DW_AT_MIPS_linkage_name);
    if (!one->name)
        one->name = string_of(&die, DW_AT_name);
    return one->name;
}

const char *object_inlines_call_file(struct object_inlines *inlines, uint32_t id)
{
    Dwarf_Die unit;
    Dwarf_Files *files;
    Dwarf_Half version;
    size_t count;

    if (!dwarf_cu_die(inlines->cu, &unit, &version, NULL, NULL, NULL, NULL, NULL) ||
        (dwarf_getsrcfiles(&unit, &files, &count) != 0 &&
         dwarf_getsrcfiles(&inlines->lines, &files, &count) != 0) ||
        (version < 5 && inlines->at[id].call_file == 0))
        return NULL;
    return dwarf_filesrc(files, inlines->at[id].call_file, NULL, NULL);
}

void object_inlines_free(struct object_inlines *inlines)
{
    if (!inlines)
        return;
    free(inlines->at);
    object_spans_free(&inlines->spans);
    free(inlines);
}
