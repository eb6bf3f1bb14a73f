/*
 * Guesses the producer by marks of each release: the linker of a linked file, the assembler of an
 * object file.
 */
#include <stdio.h>
#include <string.h>

#include "toolchain/check/check.h"

/* A linker that leaves its mark in .comment or a note; GNU ld does not. */
static const char *signed_linker(const struct object *o)
{
    static const char *const marks[][2] = { { "LLD ", "LLVM lld" }, { "mold ", "mold" } };
    const size_t index = object_section_after(o, 0, ".comment");
    const struct object_section *s = index ? &o->sections[index] : NULL;
    const uint8_t *bytes = s ? object_bytes(o, s) : NULL;

    if (object_section_after(o, 0, ".note.gnu.gold-version"))
        return "GNU gold";
    for (size_t i = 0; bytes && i < sizeof marks / sizeof *marks; i++)
        if (memmem(bytes, s->header.sh_size, marks[i][0], strlen(marks[i][0])))
            return marks[i][1];
    return NULL;
}

static const char *release(const struct sframe_part *p)
{
    if (p->version->number == 1)
        return "GNU binutils 2.40, or sfb synth";
    if (p->version->number == 2)
        return (p->flags & SFRAME_START_PCREL) ? "GNU binutils 2.45, or LLVM 22 on"
                                               : "GNU binutils 2.41 to 2.44";
    return "GNU binutils 2.46 on";
}

void check_producer(struct check *c)
{
    const char *linker = c->object && !c->object->relocatable ? signed_linker(c->object) : NULL;
    char *to = c->result->producer;

    if (linker)
        snprintf(to, sizeof c->result->producer, "%s, which links; %s", linker,
                 release(&c->parts[0]));
    else
        snprintf(to, sizeof c->result->producer, "%s", release(&c->parts[0]));
}
