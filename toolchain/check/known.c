#include "toolchain/check/known.h"

#include <string.h>

#include <sfb/abi.h>

#include "toolchain/check/where.h"

/* A finding is this fault if all fields match; NULL and 0 match everything. */
struct known {
    const char *release;
    enum check_code codes[8];
    uint8_t versions; /* a bit for each: 1 << version */
    uint8_t abis;
    const char *sections[3]; /* names of the code's section */
    const char *sframe;      /* prefix of the rule of .sframe */
    const char *eh_frame;
};

enum {
    V1 = 1 << 1,
    V2 = 1 << 2,
    V3 = 1 << 3,
    AMD64 = 1 << SFB_ABI_AMD64_LE,
};

/* Each was seen in the output of these releases: fixtures and samples, toolchain/docs/CHECKS.md. */
static const struct known all[] = {
    { .release = "GNU ld 2.44 to 2.47: .plt.got with sp+16",
      .codes = { CODE_PCMASK_FIRST },
      .versions = V2 | V3,
      .abis = AMD64,
      .sections = { ".plt.got" } },
    { .release = "GNU ld 2.44 to 2.47: .plt.got with sp+16",
      .codes = { CODE_CFA_DIFFERS },
      .versions = V2 | V3,
      .abis = AMD64,
      .sections = { ".plt.got" },
      .sframe = "CFA = sp+16,",
      .eh_frame = "CFA = sp+8," },
    { .release = "GNU ld 2.44 to 2.47: .plt.got with sp+16",
      .codes = { CODE_INSN_CALL, CODE_INSN_JUMP },
      .versions = V2 | V3,
      .abis = AMD64,
      .sections = { ".plt.got" },
      .sframe = "CFA = sp+16," },
    { .release = "GNU ld 2.40: .plt and .plt.sec of -z ibtplt",
      .codes = { CODE_CFA_DIFFERS, CODE_PLT_PARTLY, CODE_PARTLY_COVERED, CODE_NO_CFI_HERE,
                 CODE_INSN_CFA, CODE_INSN_ROW, CODE_INSN_CALL, CODE_INSN_JUMP },
      .versions = V1,
      .abis = AMD64,
      .sections = { ".plt", ".plt.sec" } },
    { .release = "GNU as 2.40 to 2.45: .cfi_undefined of the return address is ignored",
      .codes = { CODE_ROW_INEXPRESSIBLE },
      .versions = V1 | V2,
      .eh_frame = "RA undefined" },
};

static bool has_code(const struct known *k, enum check_code code)
{
    for (size_t i = 0; i < sizeof k->codes / sizeof *k->codes && k->codes[i]; i++)
        if (k->codes[i] == code)
            return true;
    return false;
}

static bool begins(const char *text, const char *start)
{
    return !start || (text && strncmp(text, start, strlen(start)) == 0);
}

static bool is_in(const struct known *k, const struct check *c, const struct finding *f)
{
    struct where_in in;

    if (!k->sections[0])
        return true;
    if (!f->place.has_pc)
        return false;
    in = where_section(c->object, f->place.pc);
    for (size_t i = 0; in.name && i < sizeof k->sections / sizeof *k->sections; i++)
        if (k->sections[i] && strcmp(k->sections[i], in.name) == 0)
            return true;
    return false;
}

const char *known_fault(const struct check *c, const struct finding *finding)
{
    const struct sframe_part *p = c->parts;

    if (c->part_count == 0 || !c->object)
        return NULL;
    for (size_t i = 0; i < sizeof all / sizeof *all; i++) {
        const struct known *k = &all[i];

        if (has_code(k, finding->code) && (k->versions >> p->version->number & 1) != 0 &&
            (k->abis == 0 || (p->abi < 8 && (k->abis >> p->abi & 1) != 0)) &&
            is_in(k, c, finding) && begins(finding->rules.sframe, k->sframe) &&
            begins(finding->rules.eh_frame, k->eh_frame))
            return k->release;
    }
    return NULL;
}
