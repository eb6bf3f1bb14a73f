#include "symbols/names.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "symbols/code.h"
#include "symbols/frame_start.h"
#include "symbols/functions.h"
#include "symbols/inlines.h"
#include "symbols/units.h"
#include "util/grow.h"

struct object_names {
    struct object_names_source source;
    struct object_functions functions;
    struct object_code code;
    struct object_units units;
    struct object_frame_starts starts;
    bool functions_known, units_known;
    char *path; /* buffer of the last file with its directory */
    size_t path_room;
};

/* A place in source code. */
struct place {
    const char *file;
    int line, column;
};

struct object_names *object_names_open(const struct object_names_source *source)
{
    struct object_names *names = calloc(1, sizeof *names);

    if (names)
        names->source = *source;
    return names;
}

void object_names_close(struct object_names *names)
{
    if (!names)
        return;
    object_frame_starts_close(&names->starts);
    object_units_free(&names->units);
    object_code_free(&names->code);
    object_functions_free(&names->functions);
    free(names->path);
    free(names);
}

static bool make_functions(struct object_names *names)
{
    const struct object_names_source *source = &names->source;

    if (!names->functions_known)
        names->functions_known = object_functions_make(
            &names->functions, source->main, source->debug, (uint64_t)source->debug_shift);
    return names->functions_known;
}

static bool make_units(struct object_names *names)
{
    const struct object_names_source *source = &names->source;

    if (names->units_known)
        return true;
    if (object_code_make(&names->code, source->main, (uint64_t)source->dwarf_shift) &&
        object_units_make(&names->units, source->dwarf, &names->code))
        names->units_known = true;
    else
        object_code_free(&names->code);
    return names->units_known;
}

/*
 * @param address  in the file with debug information
 * @param out      NULL: no debug information
 *
 * @return false: no memory
 */
static bool find_unit(struct object_names *names, uint64_t address, struct object_inlines **out)
{
    struct object_unit *unit;
    Dwarf_Die die;

    *out = NULL;
    if (!names->source.dwarf)
        return true;
    if (!make_units(names))
        return false;
    unit = object_units_find(&names->units, address);
    if (!unit)
        return true;
    if (!unit->inlines) {
        if (!dwarf_offdie(names->source.dwarf, unit->offset, &die))
            return true;
        unit->inlines = object_inlines_make(&die, &names->code);
    }
    *out = unit->inlines;
    return *out != NULL;
}

static struct place place_of_address(struct object_inlines *unit, uint64_t address)
{
    struct place place = { NULL, 0, 0 };
    Dwarf_Line *line = dwarf_getsrc_die(&unit->lines, address);

    if (line && dwarf_lineno(line, &place.line) == 0) {
        place.file = dwarf_linesrc(line, NULL, NULL);
        dwarf_linecol(line, &place.column);
    }
    /* The table has 64 bits for lines. */
    place.line = place.line > 0 ? place.line : 0;
    place.column = place.column > 0 ? place.column : 0;
    return place;
}

static int number(uint32_t value)
{
    return value <= INT32_MAX ? (int)value : 0;
}

/* The place of an inlined function's call. */
static struct place place_of_call(struct object_inlines *unit, uint32_t id)
{
    const struct object_inline *call = &unit->at[id];

    return (struct place){ object_inlines_call_file(unit, id), number(call->call_line),
                           number(call->call_column) };
}

/*
 * Prefixes a relative file with the unit's directory. libdw does so for absolute directories, and
 * not always for relative ones, which reproducible builds have.
 *
 * @return the file alone if out of memory
 */
static const char *with_directory(struct object_names *names, const struct object_inlines *unit,
                                  const char *file)
{
    const char *directory = unit ? unit->directory : NULL;
    size_t size;

    if (!file || file[0] == '/' || !directory || directory[0] == '\0')
        return file;
    size = strlen(directory);
    if (strncmp(file, directory, size) == 0 && file[size] == '/')
        return file;
    if (!array_make_room_for(&names->path, &names->path_room, size + strlen(file) + 2))
        return file;
    sprintf(names->path, "%s/%s", directory, file);
    return names->path;
}

bool object_names_find(struct object_names *names, uint64_t address,
                       void (*visit)(void *user, const struct object_name *name), void *user)
{
    const uint64_t in_dwarf = address + (uint64_t)names->source.dwarf_shift;
    struct object_name name = { .name = NULL };
    struct place place = { NULL, 0, 0 };
    uint32_t id = OBJECT_NO_SPAN;
    struct object_function function;
    struct object_inlines *unit;
    bool done = find_unit(names, in_dwarf, &unit);

    if (unit) {
        place = place_of_address(unit, in_dwarf);
        id = object_inlines_find(unit, in_dwarf);
    }
    for (; id != OBJECT_NO_SPAN && unit->at[id].inlined; id = unit->at[id].parent) {
        name = (struct object_name){ object_inlines_name(unit, id),
                                     with_directory(names, unit, place.file),
                                     place.line,
                                     place.column,
                                     true,
                                     0 };
        visit(user, &name);
        place = place_of_call(unit, id);
    }
    name = (struct object_name){ NULL,       with_directory(names, unit, place.file),
                                 place.line, place.column,
                                 false,      0 };
    if (id != OBJECT_NO_SPAN) {
        name.name = object_inlines_name(unit, id);
        name.start = unit->at[id].start - (uint64_t)names->source.dwarf_shift;
    }
    done &= make_functions(names);
    /* A symbol knows more than debug information: a split-off part ("sort.cold"). */
    if (object_functions_find(&names->functions, address, &function) &&
        (!function.label || !name.name)) {
        name.name = function.name;
        name.start = function.start;
    }
    if (!name.name)
        name.start = object_frame_start(&names->starts, names->source.main, address);
    visit(user, &name);
    return done;
}
