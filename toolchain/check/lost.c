#include "toolchain/check/lost.h"

#include <inttypes.h>
#include <string.h>

#include "toolchain/check/known_facts.h"
#include "toolchain/check/where.h"
#include "util/counted.h"

/* One of so many bytes of code makes a warning. */
enum { LOST_SHARE = 100 };

/* Padding between two functions of a stretch. */
enum { LOST_GAP = 64 };

/* Start files of the C library and of gcc have no .sframe in distributions. */
static bool is_of_start_file(const struct object *o, uint64_t pc)
{
    static const char *const names[] = { "_start",
                                         "_init",
                                         "_fini",
                                         "_dl_relocate_static_pie",
                                         "deregister_tm_clones",
                                         "register_tm_clones",
                                         "__do_global_dtors_aux",
                                         "frame_dummy" };
    const struct where_in symbol = where_symbol(o, pc);

    for (size_t i = 0; symbol.name && i < sizeof names / sizeof *names; i++)
        if (strcmp(names[i], symbol.name) == 0)
            return true;
    return false;
}

static bool is_linkage_table(const struct object *o, uint64_t pc)
{
    const struct where_in in = where_section(o, pc);

    return in.name && (strncmp(in.name, ".plt", 4) == 0 || strcmp(in.name, ".iplt") == 0);
}

void lost_add(struct lost *l, const struct check *c, uint64_t start, uint64_t bytes)
{
    const uint64_t entry = c->object->header.e_entry;

    if ((entry >= start && entry - start < bytes && !c->object->relocatable) ||
        is_of_start_file(c->object, start) || is_linkage_table(c->object, start))
        return;
    if (l->functions > 0 && start - l->end > LOST_GAP)
        l->torn = true;
    if (l->functions == 0)
        l->start = start;
    l->end = start + bytes;
    l->functions++;
    l->bytes += bytes;
    if (known_left_out(c, start))
        l->left_out += bytes;
}

void lost_say(const struct lost *l, struct check *c, uint64_t bytes)
{
    c->lost_left_out = (l->bytes - l->left_out) * LOST_SHARE < bytes;
    c->lost_at =
        l->torn ? (struct object_range){ 0, 0 } : (struct object_range){ l->start, l->end };
    if (l->bytes > 0 && l->bytes * LOST_SHARE >= bytes)
        findings_add(c->findings, CODE_LOST, in_file(0), "%s, %s of %" PRIu64,
                     counted(l->functions, "functions").text, counted(l->bytes, "bytes").text,
                     bytes);
}
