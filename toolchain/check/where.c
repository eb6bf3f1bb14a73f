#include "toolchain/check/where.h"

#include <inttypes.h>
#include <stdio.h>
#include <string.h>

static const struct object_section *section_at(const struct object *o, uint64_t pc)
{
    for (size_t i = 1; i < o->section_count; i++) {
        const struct object_section *s = &o->sections[i];

        if ((s->header.sh_flags & SHF_EXECINSTR) != 0 && pc >= s->address &&
            pc - s->address < s->header.sh_size)
            return s;
    }
    return NULL;
}

struct where_in where_section(const struct object *object, uint64_t pc)
{
    const struct object_section *s = object ? section_at(object, pc) : NULL;

    return s ? (struct where_in){ s->name, pc - s->address } : (struct where_in){ NULL, 0 };
}

struct where_in where_symbol(const struct object *object, uint64_t pc)
{
    const struct object_label *s = object ? object_label_before(object, pc) : NULL;
    const struct object_section *in;

    if (!s || (pc >= s->end && s->end > s->start))
        return (struct where_in){ NULL, 0 };
    if (s->start != pc && s->end == s->start) {
        in = section_at(object, pc);
        if (!in || s->start < in->address)
            return (struct where_in){ NULL, 0 };
    }
    return (struct where_in){ s->name, pc - s->start };
}

struct where_text where_address(const struct object *object, uint64_t address)
{
    const bool laid_out = object && object->relocatable;
    const struct where_in in =
        laid_out ? where_section(object, address) : (struct where_in){ NULL, 0 };
    struct where_text out;
    char offset[24];
    const int room = (int)(sizeof out.text - sizeof offset - sizeof "...");

    if (!in.name) {
        snprintf(out.text, sizeof out.text, "%s0x%" PRIx64, laid_out ? "no code: " : "", address);
        return out;
    }
    snprintf(offset, sizeof offset, "+0x%" PRIx64, in.offset);
    snprintf(out.text, sizeof out.text, "%.*s%s%s", room, in.name,
             strlen(in.name) > (size_t)room ? "..." : "", offset);
    return out;
}

char *where_pc(const struct object *object, uint64_t pc)
{
    const struct where_in section = where_section(object, pc), symbol = where_symbol(object, pc);
    const bool laid_out = object && object->relocatable && section.name;
    char *text;
    int n;

    if (laid_out && symbol.name)
        n = asprintf(&text, "%s+0x%" PRIx64 " (%s+0x%" PRIx64 ")", section.name, section.offset,
                     symbol.name, symbol.offset);
    else if (laid_out)
        n = asprintf(&text, "%s+0x%" PRIx64, section.name, section.offset);
    else if (symbol.name)
        n = asprintf(&text, "0x%" PRIx64 " (%s+0x%" PRIx64 ")", pc, symbol.name, symbol.offset);
    else
        n = asprintf(&text, "0x%" PRIx64, pc);
    return n < 0 ? NULL : text;
}
