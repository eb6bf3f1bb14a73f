/*
 * The library's constructors run before those of the program and of the agents, which ask it for modules. gcc 12
 * drops the priority of a constructor that was declared before its definition, without a word: so the test looks
 * at what was built.
 */
#include <criterion/criterion.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "support/command.h"

/* Each runs before any constructor without a priority. */
static const char *const early[] = { "begin_loader", "begin_program", "find_main_stack" };

enum { EARLY = sizeof early / sizeof *early };

/* The addresses that .init_array holds, in its order, one a line, as the relocations of a library have them. */
static const char entries_of[] =
    "'%s' -SW '%s' | sed 's/^ *\\[ *[0-9]*\\] *//' | awk '$1 == \".init_array\" { print $3, $5 }' "
    "| "
    "{ read -r start size; '%s' -rW '%s' | "
    "awk -v start=\"$start\" -v size=\"$size\" 'function hex(text,  n, i) { "
    "n = 0; for (i = 1; i <= length(text); i++) n = n * 16 + index(\"0123456789abcdef\", "
    "substr(text, i, 1)) - 1; return n } "
    "$3 ~ /_RELATIVE$/ { at = hex($1); if (at >= hex(start) && at < hex(start) + hex(size)) print "
    "$1, $4 }' | "
    "sort | sed 's/.* 0*//'; }";

/* The position in .init_array of a function, -1 if it is no constructor. */
static int position_of(const char *library, const char *entries, const char *function)
{
    char *address = command_output("'%s' '%s' | awk '$3 == \"%s\" { print $1 }' | sed 's/^0*//'",
                                   SFB_NM, library, function);
    char *copy = strdup(entries);
    int at = 0, found = -1;

    address[strcspn(address, "\n")] = '\0';
    for (char *rest = copy, *line; (line = strsep(&rest, "\n")) && *line; at++)
        if (strcmp(line, address) == 0)
            found = at;
    free(copy);
    free(address);
    return found;
}

static void expect_order(const char *library)
{
    char *entries = command_output(entries_of, SFB_READELF, library, SFB_READELF, library);
    int first_other = position_of(library, entries, "frame_dummy");

    cr_expect_geq(first_other, EARLY, "%s: frame_dummy() is constructor %d of\n%s", library,
                  first_other, entries);
    for (int i = 0; i < EARLY; i++) {
        int at = position_of(library, entries, early[i]);

        cr_expect(at >= 0 && at < first_other, "%s: %s() is constructor %d, others begin at %d",
                  library, early[i], at, first_other);
    }
    free(entries);
}

Test(constructors, of_the_library_run_before_all_others)
{
    static const char *const libraries[] = { SFB_SHARED_LIBRARY, SFB_AGENT_LIBRARIES };

    for (size_t i = 0; i < sizeof libraries / sizeof *libraries; i++)
        expect_order(libraries[i]);
}

/* Linked into a program, they come before the program's own. */
Test(constructors, have_a_priority_in_the_static_library)
{
    char *sections = command_output(
        "'%s' -SW '%s' | grep -o ' [.]\\(init_array\\|ctors\\)[^ ]*' | sort | uniq -c", SFB_READELF,
        SFB_STATIC_LIBRARY);
    unsigned count = 0;

    for (char *rest = sections, *line; (line = strsep(&rest, "\n")) && *line;) {
        unsigned n = 0, priority = 0;

        cr_expect(sscanf(line, "%u .init_array.%u", &n, &priority) == 2 && priority == 101, "%s",
                  line);
        count += n;
    }
    cr_expect_geq(count, EARLY);
    free(sections);
}
