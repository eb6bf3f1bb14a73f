/* Level 1: the header and the bounds of its tables; one part behind the other. */
#include <inttypes.h>

#include <sfb/abi.h>

#include "toolchain/check/bytes.h"
#include "toolchain/check/check.h"
#include "util/counted.h"
#include "util/grow.h"

static bool has_magic(const uint8_t *at)
{
    return bytes_load(at, 2, false) == SFRAME_MAGIC || bytes_load(at, 2, true) == SFRAME_MAGIC;
}

static bool is_big_abi(uint8_t abi)
{
    return abi == SFB_ABI_AARCH64_BE || abi == SFRAME_ABI_S390X;
}

static const char *abi_name(uint8_t abi)
{
    switch (abi) {
    case SFB_ABI_AARCH64_BE: return "AArch64, big endian";
    case SFB_ABI_AARCH64_LE: return "AArch64";
    case SFB_ABI_AMD64_LE: return "AMD64";
    case SFRAME_ABI_S390X: return "s390x";
    default: return "unknown";
    }
}

/* @return whether the rest of the header can be read */
static bool judge_preamble(struct check *c, const struct sframe_part *p)
{
    if (p->size >= 2 && !has_magic(p->data)) {
        findings_add(c->findings, CODE_MAGIC, in_sframe(p->offset), "0x%02x%02x, not 0xdee2",
                     p->data[0], p->data[1]);
        return false;
    }
    if (p->size >= SFRAME_HEADER_SIZE)
        return true;
    findings_add(c->findings, CODE_HEADER_CUT, in_sframe(p->offset + p->size), "%s of %d",
                 counted(p->size, "bytes").text, SFRAME_HEADER_SIZE);
    return false;
}

static void read_header(struct sframe_part *p)
{
    const uint8_t *at = p->data;
    uint64_t base;

    p->big = bytes_load(at, 2, true) == SFRAME_MAGIC;
    p->version = sframe_version_find(at[AT_HEADER_VERSION]);
    p->flags = at[AT_HEADER_FLAGS];
    p->abi = at[AT_HEADER_ABI];
    p->fixed_fp = (int16_t)bytes_load_signed(at + AT_HEADER_FIXED_FP, 1, p->big);
    p->fixed_ra = (int16_t)bytes_load_signed(at + AT_HEADER_FIXED_RA, 1, p->big);
    p->aux_size = at[AT_HEADER_AUX];
    p->fde_count = (uint32_t)bytes_load(at + AT_HEADER_FDES, 4, p->big);
    p->fre_count = (uint32_t)bytes_load(at + AT_HEADER_FRES, 4, p->big);
    p->fre_size = (uint32_t)bytes_load(at + AT_HEADER_FRE_SIZE, 4, p->big);
    base = (uint64_t)SFRAME_HEADER_SIZE + p->aux_size;
    p->fde_at = base + bytes_load(at + AT_HEADER_FDE_AT, 4, p->big);
    p->fre_at = base + bytes_load(at + AT_HEADER_FRE_AT, 4, p->big);
    p->end = p->fre_at + p->fre_size;
}

/* @return whether rows can be read: the ABI decides about their offsets */
static bool judge_abi(struct check *c, const struct sframe_part *p)
{
    const struct finding_place at = in_sframe(p->offset + AT_HEADER_ABI);
    const int fixed_ra = sfb_abi_registers(p->abi).fixed_ra;
    bool good = false;

    if (p->abi == 0 || p->abi > p->version->abi_max) {
        findings_add(c->findings, CODE_ABI, at, "ABI %u", p->abi);
        return false;
    }
    if (fix_is(p->fix, FIX_SWAP_MACHINE))
        return true;
    if (is_big_abi(p->abi) != p->big)
        findings_add(c->findings, CODE_ABI_ORDER, at, "%s, and the magic is %s endian",
                     abi_name(p->abi), p->big ? "big" : "little");
    else if (c->object && c->object->abi != p->abi)
        findings_add(c->findings, CODE_ABI_MACHINE, at, "%s, in a file for %s", abi_name(p->abi),
                     c->object->abi ? abi_name(c->object->abi) : "another machine");
    else
        good = p->fixed_ra == fixed_ra && p->fixed_fp == 0;
    if (p->fixed_ra != fixed_ra)
        findings_add(c->findings, CODE_FIXED_RA, in_sframe(p->offset + AT_HEADER_FIXED_RA),
                     "%d; %s has %d", p->fixed_ra, abi_name(p->abi), fixed_ra);
    if (p->fixed_fp != 0)
        findings_add(c->findings, CODE_FIXED_FP, in_sframe(p->offset + AT_HEADER_FIXED_FP), "%d",
                     p->fixed_fp);
    return good;
}

static void judge_flags(struct check *c, const struct sframe_part *p)
{
    const struct finding_place at = in_sframe(p->offset + AT_HEADER_FLAGS);
    const unsigned unknown = p->flags & ~(unsigned)p->version->flags;

    if (unknown != 0)
        findings_add(c->findings, CODE_FLAGS, at, "0x%x", unknown);
    if ((p->flags & p->version->flags & SFRAME_FRAME_POINTER) != 0)
        findings_add(c->findings, CODE_FRAME_POINTER, at, "flags 0x%x", p->flags);
    if (p->version->always_pcrel && (p->flags & SFRAME_START_PCREL) == 0)
        findings_add(c->findings, CODE_NOT_PCREL, at, "flags 0x%x", p->flags);
}

/* @return whether the tables lie within the section */
static bool judge_tables(struct check *c, const struct sframe_part *p)
{
    const uint64_t base = (uint64_t)SFRAME_HEADER_SIZE + p->aux_size;
    const uint64_t fdes = (uint64_t)p->fde_count * p->version->entry_size;

    if (p->aux_size != 0)
        findings_add(c->findings, CODE_AUX, in_sframe(p->offset + AT_HEADER_AUX), "%s",
                     counted(p->aux_size, "bytes").text);
    if (base > p->size) {
        findings_add(c->findings, CODE_AUX_CUT, in_sframe(p->offset + AT_HEADER_AUX),
                     "it ends at 0x%" PRIx64 ", the section at 0x%zx", base, p->size);
        return false;
    }
    if (p->fde_at > p->size || fdes > p->size - p->fde_at) {
        findings_add(
            c->findings, CODE_FDES_CUT,
            in_sframe(p->offset + (p->fde_at > p->size ? AT_HEADER_FDE_AT : AT_HEADER_FDES)),
            "%" PRIu32 " of them end at 0x%" PRIx64 ", the section at 0x%zx", p->fde_count,
            p->fde_at + fdes, p->size);
        return false;
    }
    if (p->end > p->size) {
        findings_add(
            c->findings, CODE_FRES_CUT,
            in_sframe(p->offset + (p->fre_at > p->size ? AT_HEADER_FRE_AT : AT_HEADER_FRE_SIZE)),
            "they end at 0x%" PRIx64 ", the section at 0x%zx", p->end, p->size);
        return false;
    }
    if (p->fde_at + fdes > p->fre_at && p->fre_size > 0 && fdes > 0) {
        findings_add(c->findings, CODE_TABLES_OVERLAP, in_sframe(p->offset + AT_HEADER_FRE_AT),
                     "entries end at 0x%" PRIx64 ", rows start at 0x%" PRIx64, p->fde_at + fdes,
                     p->fre_at);
        return false;
    }
    if (p->fde_at > base)
        findings_add(c->findings, CODE_UNUSED_BYTES, in_sframe(p->offset + base),
                     "%" PRIu64 " between header and entries", p->fde_at - base);
    if (p->fre_at != p->fde_at + fdes)
        findings_add(c->findings, CODE_UNUSED_BYTES, in_sframe(p->offset + p->fde_at + fdes),
                     "%" PRId64 " between entries and rows",
                     (int64_t)(p->fre_at - (p->fde_at + fdes)));
    return true;
}

/* The reading that is tried may have entries of another size than the version's, and another machine. */
static void adapt_header(struct check *c, struct sframe_part *p)
{
    if (fix_is(p->fix, FIX_SWAP_MACHINE) && c->object)
        p->abi = c->object->abi;
    if (!p->version || !fix_is(p->fix, FIX_ENTRY_SIZE))
        return;
    c->version = *p->version;
    c->version.entry_size = (uint8_t)p->fix->amount;
    c->version.has_repeat_size &= c->version.entry_size >= c->version.start_size + 14;
    c->version.has_padding &= c->version.entry_size >= c->version.start_size + 16;
    p->version = &c->version;
}

/* @return whether the part can be read */
static bool judge_header(struct check *c, struct sframe_part *p)
{
    if (!judge_preamble(c, p))
        return false;
    read_header(p);
    adapt_header(c, p);
    if (!p->version) {
        findings_add(c->findings, CODE_VERSION, in_sframe(p->offset + AT_HEADER_VERSION), "%u",
                     p->data[AT_HEADER_VERSION]);
        return false;
    }
    judge_flags(c, p);
    if (!judge_abi(c, p) || !judge_tables(c, p))
        return false;
    /* The next part must not overlap this one: else as many parts would read the same entries. */
    if (p->end < p->fde_at + (uint64_t)p->fde_count * p->version->entry_size)
        p->end = p->fde_at + (uint64_t)p->fde_count * p->version->entry_size;
    if (p->fde_count == 0)
        findings_add(c->findings, CODE_NO_FUNCTIONS, in_sframe(p->offset + AT_HEADER_FDES),
                     "num_fdes is 0");
    return true;
}

/* The earliest place of the next header: linkers align inputs. */
static uint64_t after(const struct sframe_part *p)
{
    return (p->offset + p->end + SFRAME_ALIGNMENT - 1) & ~(uint64_t)(SFRAME_ALIGNMENT - 1);
}

/* @return whether another part follows */
static bool judge_tail(struct check *c, const struct sframe_part *p)
{
    const uint64_t end = p->offset + p->end, next = after(p);

    if (end >= c->size)
        return false;
    if (next + SFRAME_HEADER_SIZE <= c->size && has_magic(c->data + next) &&
        bytes_are_zero(c->data + end, (size_t)(next - end)) &&
        sframe_version_find(c->data[next + AT_HEADER_VERSION]))
        return true;
    if (bytes_are_zero(c->data + end, (size_t)(c->size - end)))
        findings_add(c->findings, CODE_TRAILING_ZEROS, in_sframe(end), "%s",
                     counted(c->size - end, "bytes").text);
    else
        findings_add(c->findings, CODE_TRAILING, in_sframe(end), "%s",
                     counted(c->size - end, "bytes").text);
    return false;
}

static bool add_part(struct check *c, const struct sframe_part *p)
{
    if (!array_make_room(&c->parts, c->part_count, &c->part_capacity, sizeof *c->parts))
        return false;
    c->parts[c->part_count] = *p;
    if (!sframe_part_read(&c->parts[c->part_count++]))
        return false;
    if (c->copy.bytes)
        sframe_part_relocate(&c->parts[c->part_count - 1], c->copy.bytes);
    return true;
}

bool check_structure(struct check *c)
{
    const struct sframe_fix *fix = c->reading.fix.kind != FIX_NONE ? &c->reading.fix : NULL;
    const uint64_t moved = fix_is(fix, FIX_ADDRESS) ? (uint64_t)fix->amount : 0;
    struct sframe_part p = {
        .data = c->data, .size = c->size, .address = c->address + moved, .fix = fix
    };

    if (c->size == 0) {
        findings_add(c->findings, CODE_EMPTY, in_sframe(0), "sh_size is 0");
        return true;
    }
    for (;;) {
        uint64_t next;

        if (!judge_header(c, &p))
            return true;
        if (!add_part(c, &p))
            return false;
        if (!judge_tail(c, &p))
            return true;
        next = after(&p);
        if (c->part_count == 1)
            findings_add(c->findings, CODE_CONCATENATED, in_sframe(next),
                         "a header, behind the %s of the one before",
                         counted(p.fde_count, "functions").text);
        p = (struct sframe_part){ .data = c->data + next,
                                  .size = c->size - next,
                                  .offset = next,
                                  .address = c->address + moved + next,
                                  .fix = fix,
                                  .first = p.first + p.fde_count };
    }
}
