#include "toolchain/check/fingerprint.h"

#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#include "toolchain/check/where.h"
#include "util/base_name.h"
#include "util/fnv.h"

/* With the terminating zero, so that two texts differ from their concatenation. */
static uint64_t mix_text(uint64_t hash, const char *text)
{
    return sfb_fnv(hash, text, strlen(text) + 1);
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
    uint64_t hash = mix_number(SFB_FNV_START, finding->code);

    hash = mix_text(hash, sfb_base_name(name));
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
