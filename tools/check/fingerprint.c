#include "fingerprint.h"

#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#include "where.h"

/* FNV-1a, 64 bits. */
static uint64_t mix(uint64_t hash, const void *bytes, size_t size)
{
    for (const uint8_t *at = bytes; size > 0; size--)
        hash = (hash ^ *at++) * UINT64_C(0x100000001b3);
    return hash;
}

/* With the zero behind it, so that two texts are not one. */
static uint64_t mix_text(uint64_t hash, const char *text)
{
    return mix(hash, text, strlen(text) + 1);
}

static uint64_t mix_number(uint64_t hash, uint64_t number)
{
    char text[24];

    snprintf(text, sizeof text, "%" PRIu64, number);
    return mix_text(hash, text);
}

uint64_t finding_fingerprint(const struct finding *finding, const char *name,
                             const struct object *object)
{
    const char *slash = strrchr(name, '/');
    uint64_t hash = mix_number(UINT64_C(0xcbf29ce484222325), finding->code);

    hash = mix_text(hash, slash ? slash + 1 : name);
    if (finding->place.has_pc) {
        struct where_in in = where_symbol(object, finding->place.pc);

        if (!in.name)
            in = where_section(object, finding->place.pc);
        hash = mix_text(hash, in.name ? in.name : "");
        hash = mix_number(hash, in.name ? in.offset : finding->place.pc);
    }
    hash = mix_text(hash, finding->rules.sframe ? finding->rules.sframe : "");
    return mix_text(hash, finding->rules.eh_frame ? finding->rules.eh_frame : "");
}
