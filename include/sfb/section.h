/* Unstable: may change in any release. Its functions are in the static library only. */
/**
 * SFrame section: a checked view of a section of version 1, 2 or 3, in place.
 *
 * FDEs, rows and rules look the same for all versions, though they are stored differently. A few
 * members are for newer versions only.
 *
 * Nothing is copied or allocated, no alignment is needed, and no byte is trusted: each value is
 * checked against the section's size before its use. Either byte order is read.
 */
#ifndef SFB_SECTION_H
#define SFB_SECTION_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "abi.h"
#include "rule.h"
#include "status.h"

SFB_BEGIN_DECLS

/*
 * The section's types in ELF files: of its segment and, since binutils 2.45, of the section. Older
 * copies of elf.h lack PT_GNU_SFRAME and SHT_GNU_SFRAME.
 */
enum { SFB_PT_GNU_SFRAME = 0x6474e554, SFB_SHT_GNU_SFRAME = 0x6ffffff4 };

/* sfp_flags: "1.1.3 SFrame flags". */
enum sfb_section_flags {
    SFB_SECTION_FDE_SORTED = 0x1,
    SFB_SECTION_FRAME_POINTER = 0x2, /* versions 1 and 2 */
    SFB_SECTION_FIELD_RELATIVE = 0x4 /* SFRAME_F_FDE_FUNC_START_PCREL, versions 2 (Errata 1), 3 */
};

/* Fields in host byte order; offsets count from the first byte of the section. */
struct sfb_section {
    const uint8_t *data; /* borrowed */
    uint64_t address;    /* where data lies in the unwound process */
    size_t size;         /* bytes that the header describes; at most the size given to open */
    uint32_t fde_count;
    uint32_t fre_count; /* as the header claims; for dumps and checks only */
    uint32_t fre_size;  /* bytes of the FRE sub-section */
    uint32_t fde_offset;
    uint32_t fre_offset;
    uint8_t version;
    uint8_t flags;    /* enum sfb_section_flags */
    uint8_t abi;      /* enum sfb_abi */
    uint8_t aux_size; /* bytes of the auxiliary header; no version defines one yet */
    int8_t fixed_fp;  /* offset of saved fp from the CFA; 0: not fixed */
    int8_t fixed_ra;  /* offset of RA from the CFA; 0: not fixed */
    bool swap;        /* the section's byte order is not the host's */

    /*
     * Function starts count from their own field; else from the start of the section. Set by the
     * flag; in versions 1 and 2 also if FDEs are unsorted: then no linker has merged them.
     */
    bool field_relative;
    bool plain;  /* as GNU ld 2.40 writes it, for this machine: has the shortest lookup */
    size_t rest; /* bytes behind `size` if another header is there: see sfb_section_next() */
};

enum sfb_fde_type { SFB_FDE_PCINC = 0, SFB_FDE_PCMASK = 1 };
enum sfb_fre_type { SFB_FRE_ADDR1 = 0, SFB_FRE_ADDR2 = 1, SFB_FRE_ADDR4 = 2 };

/* One function descriptor entry: "1.3 SFrame FDE"; "2.3 SFrame FDE" of version 3. */
struct sfb_fde {
    uint64_t start;      /* address of the function in the process */
    uint32_t size;       /* bytes of code */
    uint32_t fre_offset; /* of its first row, from the start of the FRE sub-section */
    uint32_t fre_count;
    uint32_t index;      /* in the section */
    uint8_t fre_type;    /* enum sfb_fre_type */
    uint8_t type;        /* enum sfb_fde_type */
    uint8_t repeat_size; /* PCMASK: code bytes after which rows repeat; 16 in version 1 */
    bool key_b;          /* AArch64: return addresses are signed with key B */
    bool signal;         /* version 3: a signal frame; its caller was interrupted */
    bool flexible;       /* version 3: rows hold pairs of words, see struct sfb_fre */
};

#define SFB_FRE_WORDS_MAX 6

/* One frame row entry: "1.4 SFrame FRE"; "2.4 SFrame FRE" of version 3. */
struct sfb_fre {
    uint32_t start;    /* first code byte that it covers, from the start of the function */
    uint32_t position; /* of the row, from the start of the FRE sub-section */
    uint32_t size;     /* bytes of the row */
    /*
     * As stored: CFA, then RA and fp if they are tracked. In a flexible FDE each is a control word
     * and an offset, or a control word of 0 alone.
     */
    int32_t offset[SFB_FRE_WORDS_MAX];
    uint8_t offset_count; /* 0: RA is undefined, no caller (version 2, Errata 2; version 3) */
    uint8_t word_size;    /* bytes of a stored offset */
    uint8_t cfa_base;     /* enum sfb_base; not in flexible FDEs */
    bool mangled_ra;
};

/**
 * Checks an SFrame header and describes its tables.
 *
 * Reads only the header, and two bytes behind the tables. A section that opens may still hold
 * corrupt FDEs and rows: each is checked when a lookup reads it. Bytes behind the tables are
 * ignored, because GNU ld makes PT_GNU_SFRAME larger than the section. If they are another section:
 * see sfb_section_next().
 *
 * @param out      written on SFB_OK, untouched otherwise
 * @param data     any alignment; borrowed until out is last used
 * @param size     bytes at data
 * @param address  of data in the unwound process; for a file, its virtual address
 * @param error    where and why, on failure; NULL: not wanted
 *
 * @return SFB_OK
 *         SFB_TRUNCATED     the header or a table ends past size
 *         SFB_BAD_MAGIC     the first two bytes are not 0xdee2 in either byte order
 *         SFB_BAD_VERSION   not version 1, 2 or 3
 *         SFB_BAD_HEADER    unknown flags or ABI, sub-sections that overlap, an ABI of the
 *                           other byte order
 *         SFB_BAD_ARGUMENT  out or data is NULL
 *
 * Threads: safe; shares nothing.   Signals: safe; no locks, heap, or errno.   Cost: constant.
 * Source: SFrame specification, 1.1 and 1.2 of version 1, 2.1 and 2.2 of version 3.
 */
SFB_API enum sfb_status sfb_section_open(struct sfb_section *out, const void *data, size_t size,
                                         uint64_t address, struct sfb_error *error);

/**
 * Opens the section behind a section.
 *
 * Linkers that do not merge sections (gold, lld, mold 1) concatenate the sections of all object
 * files, headers included, each aligned to 8 bytes. sfb_section_find() and sfb_section_function()
 * search all of them; the other functions know one.
 *
 * @param out      written on SFB_OK; may be `section` itself
 * @param section  opened with all bytes that are there
 * @param error    as in sfb_section_open(); the offset counts from the start of `section`
 *
 * @return SFB_OK
 *         SFB_NO_SECTION  section->rest is 0: it is the last
 *         else as sfb_section_open()
 *
 * Threads, signals: safe.   Cost: constant.   Source: what those linkers do.
 */
SFB_API enum sfb_status sfb_section_next(struct sfb_section *out, const struct sfb_section *section,
                                         struct sfb_error *error);

/**
 * Reads one FDE.
 *
 * @param section  opened
 * @param index    below section->fde_count
 * @param out      written on SFB_OK
 * @param error    where and why, on failure; offset from the start of the section; NULL: not wanted
 *
 * @return SFB_OK
 *         SFB_BAD_FDE       its info words contradict the specification, or repeat_size is 0
 *         SFB_TRUNCATED     its rows cannot all lie within the section
 *         SFB_BAD_ARGUMENT  index out of range
 *
 * Threads, signals: safe.   Cost: constant.
 * Source: SFrame specification, 1.3 of version 1, 2.3 of version 3.
 */
SFB_API enum sfb_status sfb_fde_read(const struct sfb_section *section, uint32_t index,
                                     struct sfb_fde *out, struct sfb_error *error);

/**
 * Finds the function that covers a pc.
 *
 * A binary search if the section says that it is sorted, else a scan for the first match. The
 * function covers [start, start + size); gaps and functions of size 0 cover nothing. The result
 * always covers the pc. In a section that claims to be sorted and is not, a function can be missed.
 *
 * @param section  opened
 * @param pc       address in the process; for a return address the byte before it
 * @param out      written on SFB_OK
 * @param error    as in sfb_fde_read()
 *
 * @return SFB_OK
 *         SFB_NO_FDE  no function covers pc
 *         else as sfb_fde_read() for the FDE that was found
 *
 * Threads, signals: safe.   Cost: log2(fde_count) steps; unsorted: fde_count.
 * Source: SFrame specification, 1.3 and 1.1.3 of version 1, 2.3 and 2.1.3 of version 3.
 */
SFB_API enum sfb_status sfb_fde_find(const struct sfb_section *section, uint64_t pc,
                                     struct sfb_fde *out, struct sfb_error *error);

/**
 * Finds the start of the function that covers a pc, in this section and those behind it.
 *
 * @param section  opened
 * @param pc       address in the process; for a return address the byte before it
 * @param start    written on SFB_OK: address in the process
 *
 * @return as sfb_fde_find() and sfb_section_next()
 *
 * Threads, signals: safe.   Cost: as sfb_fde_find(), for each header.
 */
SFB_API enum sfb_status sfb_section_function(const struct sfb_section *section, uint64_t pc,
                                             uint64_t *start);

/**
 * Reads the row at a position: one step over all rows of a function.
 *
 * The first row is at fde->fre_offset, the next at out->position + out->size; there are
 * fde->fre_count.
 *
 * @param section   opened
 * @param fde       of section
 * @param position  bytes from the start of the FRE sub-section
 * @param out       written on SFB_OK
 * @param error     as in sfb_fde_read()
 *
 * @return SFB_OK
 *         SFB_BAD_FRE   an offset size or count that this version does not have for this ABI
 *         SFB_TRUNCATED  the row ends past the sub-section
 *
 * Threads, signals: safe.   Cost: constant.
 * Source: SFrame specification, 1.4 of version 1, 2.4 of version 3.
 */
SFB_API enum sfb_status sfb_fre_read(const struct sfb_section *section, const struct sfb_fde *fde,
                                     uint32_t position, struct sfb_fre *out,
                                     struct sfb_error *error);

/**
 * Finds the row that covers a pc: the last one that starts at or before it.
 *
 * In a PCMASK function (one FDE for all PLT entries) the pc counts from the start of the function
 * modulo fde->repeat_size.
 *
 * @param section  opened
 * @param fde      of section
 * @param pc       address in the process; for a return address the byte before it
 * @param out      written on SFB_OK
 * @param error    as in sfb_fde_read()
 *
 * @return SFB_OK
 *         SFB_NO_FRE   no row covers pc, there are no rows, or pc is outside of the function.
 *                      (The specification calls a function of version 3 without rows an outermost
 *                      frame. But gas also writes no rows for functions without CFI or with CFI
 *                      that it cannot state. So this is a miss, and .eh_frame is tried.)
 *         SFB_BAD_FRE, SFB_TRUNCATED   as sfb_fre_read(); also rows that are out of order
 *
 * Threads, signals: safe.   Cost: the rows before the pc.
 * Source: SFrame specification, 1.3.2 of version 1, 2.3.3.1 of version 3.
 */
SFB_API enum sfb_status sfb_fre_find(const struct sfb_section *section, const struct sfb_fde *fde,
                                     uint64_t pc, struct sfb_fre *out, struct sfb_error *error);

/* CFA, RA or fp in a flexible row: the value itself, or the address of the word that holds it. */
struct sfb_location {
    uint8_t how;    /* enum sfb_location_how */
    bool reg_based; /* base is a register; else the CFA */
    bool deref;     /* the word at base + offset; else base + offset itself */
    uint32_t reg;   /* DWARF number */
    int32_t offset;
};

enum sfb_location_how {
    SFB_LOCATION_ABSENT = 0, /* the row ends before it: the header's value, or unchanged */
    SFB_LOCATION_PADDED = 1, /* a control word of 0: the same */
    SFB_LOCATION_SAID = 2
};

enum sfb_location_of {
    SFB_LOCATION_CFA = 0,
    SFB_LOCATION_RA = 1,
    SFB_LOCATION_FP = 2,
    SFB_LOCATION_COUNT
};

/**
 * Decodes the words of a row of a flexible FDE.
 *
 * @param fre  of a flexible FDE
 * @param out  by enum sfb_location_of; on failure, what was decoded before it
 *
 * @return SFB_OK
 *         SFB_BAD_FRE  words are left over, half of a pair is missing, or a control word has an
 *                      unknown bit
 *
 * Threads, signals: safe.   Cost: constant.   Source: SFrame v3 specification, 3.2.
 */
SFB_API enum sfb_status sfb_fre_locations(const struct sfb_fre *fre,
                                          struct sfb_location out[SFB_LOCATION_COUNT]);

/**
 * Gives the rule of a row.
 *
 * @param section  opened
 * @param fde      of section
 * @param fre      of fde
 * @param out      written on SFB_OK
 * @param error    as in sfb_fde_read()
 *
 * @return SFB_OK
 *         SFB_BAD_FRE  the row cannot be a rule:
 *                      - a CFA below sp, on AMD64 below sp + 8
 *                      - versions 2 and 3, AMD64: a PLT entry that starts with another CFA than
 *                        sp + 8 (ld 2.41 and later write it for .plt.got)
 *                      - a flexible FDE: words that are not pairs, or a CFA based on the CFA
 *
 * Threads, signals: safe.   Cost: constant.
 * Source: SFrame specification, 1.4 of version 1, chapter 3 of version 3.
 */
SFB_API enum sfb_status sfb_fre_rule(const struct sfb_section *section, const struct sfb_fde *fde,
                                     const struct sfb_fre *fre, struct sfb_rule *out,
                                     struct sfb_error *error);

/**
 * Finds the rule for a pc: the call on the capture path.
 *
 * sfb_fde_find(), sfb_fre_find() and sfb_fre_rule() in one. If no function covers the pc, the
 * sections behind this one are searched: see sfb_section_next().
 *
 * @param section  opened
 * @param pc       address in the process; for a return address the byte before it
 * @param out      written on SFB_OK
 * @param error    as in sfb_fde_read()
 *
 * @return SFB_OK
 *         SFB_NO_FDE, SFB_NO_FRE                   no rule for pc
 *         SFB_BAD_FDE, SFB_BAD_FRE, SFB_TRUNCATED  the section is corrupt
 *         else as sfb_section_next() for a section behind this one
 *
 * Threads, signals: safe.   Cost: as those three, for each section up to the one that answers.
 * Source: as those three.
 */
SFB_API enum sfb_status sfb_section_find(const struct sfb_section *section, uint64_t pc,
                                         struct sfb_rule *out, struct sfb_error *error);

SFB_END_DECLS

#endif
