#include "toolchain/check/known.h"

#include <string.h>

#include <sfb/abi.h>

#include "symbols/code_ranges.h"
#include "toolchain/check/known_facts.h"
#include "toolchain/check/where.h"

/* A finding is this fault if all fields match; NULL and 0 match everything. */
struct known {
    const char *name;    /* the file in toolchain/tests/check/reproducers */
    const char *release; /* and the fault, in words */
    enum check_code codes[8];
    uint8_t versions; /* a bit for each: 1 << version */
    uint8_t abis;
    enum known_fact fact;
    const char *sections[3]; /* names of the code's section */
    const char *sframe;      /* how the rule of .sframe begins, or what is in it: "*FP at" */
    const char *eh_frame;
};

enum {
    V1 = 1 << 1,
    V2 = 1 << 2,
    V3 = 1 << 3,
    AMD64 = 1 << SFB_ABI_AMD64_LE,
    AARCH64 = 1 << SFB_ABI_AARCH64_LE | 1 << SFB_ABI_AARCH64_BE,
};

static const struct known all[] = {
/* clang-format off */
#include "toolchain/check/known.inc"
    /* clang-format on */
};

static bool has_code(const struct known *k, enum check_code code)
{
    for (size_t i = 0; i < sizeof k->codes / sizeof *k->codes && k->codes[i]; i++)
        if (k->codes[i] == code)
            return true;
    return false;
}

/* How a rule begins; behind * what is in it. */
static bool fits(const char *text, const char *pattern)
{
    if (!pattern || !text)
        return !pattern;
    return *pattern == '*' ? strstr(text, pattern + 1) != NULL
                           : strncmp(text, pattern, strlen(pattern)) == 0;
}

/* Without section headers: "jmp *SLOT", and two bytes of padding, as ld writes it. */
static bool is_plt_got_entry(const struct object *o, uint64_t pc)
{
    const uint8_t *at = object_code_at(o, pc, 8);

    return at && at[0] == 0xff && at[1] == 0x25 && at[6] == 0x66 && at[7] == 0x90;
}

static bool is_in(const struct known *k, const struct check *c, const struct finding *f)
{
    struct where_in in;

    if (!k->sections[0])
        return true;
    if (!f->place.has_pc)
        return false;
    if (c->object->section_count == 0)
        return strcmp(k->sections[0], ".plt.got") == 0 && is_plt_got_entry(c->object, f->place.pc);
    in = where_section(c->object, f->place.pc);
    for (size_t i = 0; in.name && i < sizeof k->sections / sizeof *k->sections; i++)
        if (k->sections[i] && strcmp(k->sections[i], in.name) == 0)
            return true;
    return false;
}

bool known_has_code(enum check_code code)
{
    for (size_t i = 0; i < sizeof all / sizeof *all; i++)
        if (has_code(&all[i], code))
            return true;
    return false;
}

const char *known_fault(const struct check *c, const struct finding *finding)
{
    const struct sframe_part *p = c->parts;

    const unsigned version = c->part_count > 0             ? p->version->number
                             : c->size > AT_HEADER_VERSION ? c->data[AT_HEADER_VERSION]
                                                           : 0;
    const uint8_t abi = c->part_count > 0 ? p->abi : c->object ? c->object->abi : 0;

    if (!c->object)
        return NULL;
    for (size_t i = 0; i < sizeof all / sizeof *all; i++) {
        const struct known *k = &all[i];

        if (has_code(k, finding->code) && (version == 0 || (k->versions >> version & 1) != 0) &&
            (k->abis == 0 || (abi < 8 && (k->abis >> abi & 1) != 0)) && is_in(k, c, finding) &&
            (version > 0 || k->fact == FACT_DISCARDED) && known_fact_holds(c, finding, k->fact) &&
            fits(finding->rules.sframe, k->sframe) && fits(finding->rules.eh_frame, k->eh_frame))
            return k->release;
    }
    return NULL;
}
