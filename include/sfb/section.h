/**
 * A checked view of one SFrame section, of version 1, 2 or 3, in place.
 *
 * The versions differ in how they are stored. What is read here, an entry, a row, a rule, is the
 * same for all of them; a few members say what only newer ones can.
 *
 * Nothing is copied, nothing is allocated, no alignment is asked for, and no byte is believed: what
 * a section says is compared with its size before it is used. A section of the other byte order
 * is read like one's own.
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
    size_t size;         /* of what the header describes; at most what open was given */
    uint32_t fde_count;
    uint32_t fre_count; /* what the header claims; only dumps and checks use it */
    uint32_t fre_size;  /* bytes of the FRE sub-section */
    uint32_t fde_offset;
    uint32_t fre_offset;
    uint8_t version;
    uint8_t flags;    /* enum sfb_section_flags */
    uint8_t abi;      /* enum sfb_abi */
    uint8_t aux_size; /* bytes of the auxiliary header, which no version defines yet */
    int8_t fixed_fp;  /* CFA + this holds fp, 0: not fixed */
    int8_t fixed_ra;  /* CFA + this holds RA, 0: not fixed */
    bool swap;        /* the section's byte order is not the host's */

    /*
     * Function starts count from their own field, else from the start of the section: by the flag,
     * and in versions 1 and 2 where functions are not sorted, because nobody has merged them then.
     */
    bool field_relative;
    bool plain;  /* as GNU ld 2.40 writes it, for this machine: found in the shortest way */
    size_t rest; /* bytes behind `size`, if another header is there: see sfb_section_next() */
};

enum sfb_fde_type { SFB_FDE_PCINC = 0, SFB_FDE_PCMASK = 1 };
enum sfb_fre_type { SFB_FRE_ADDR1 = 0, SFB_FRE_ADDR2 = 1, SFB_FRE_ADDR4 = 2 };

/* One function descriptor entry: "1.3 SFrame FDE"; "2.3 SFrame FDE" of version 3. */
struct sfb_fde {
    uint64_t start;      /* address of the function in the process */
    uint32_t size;       /* bytes of code */
    uint32_t fre_offset; /* of its first row, from the start of the FRE sub-section */
    uint32_t fre_count;
    uint32_t index;      /* its place in the section */
    uint8_t fre_type;    /* enum sfb_fre_type */
    uint8_t type;        /* enum sfb_fde_type */
    uint8_t repeat_size; /* PCMASK: code bytes after which rows begin anew; 16 in version 1 */
    bool key_b;          /* AArch64: return addresses are signed with key B */
    bool signal;         /* version 3: its caller was interrupted */
    bool flexible;       /* version 3: rows hold pairs of words, see struct sfb_fre */
};

#define SFB_FRE_WORDS_MAX 6

/* One frame row entry: "1.4 SFrame FRE"; "2.4 SFrame FRE" of version 3. */
struct sfb_fre {
    uint32_t start;    /* first code byte it holds for, from the start of the function */
    uint32_t position; /* of the row, from the start of the FRE sub-section */
    uint32_t size;     /* bytes of the row */
    /*
     * As stored: CFA, then RA and fp where they are tracked. In a flexible function the same as
     * pairs of a control word and an offset, or a control word of 0 alone.
     */
    int32_t offset[SFB_FRE_WORDS_MAX];
    uint8_t offset_count; /* 0: RA is undefined, there is no caller (versions 2, Errata 2, and 3) */
    uint8_t word_size;    /* bytes of a stored offset */
    uint8_t cfa_base;     /* enum sfb_base; not in flexible functions */
    bool mangled_ra;
};

/**
 * Checks an SFrame header and describes its tables.
 *
 * Reads the header only, and two bytes behind the tables: a section that opens may still hold bad
 * entries and rows; each of those is judged when a lookup reads it. Bytes behind what the header
 * describes are ignored, because GNU ld makes PT_GNU_SFRAME larger than the section, unless they
 * are another section: see sfb_section_next().
 *
 * @param out      written on SFB_OK, untouched otherwise
 * @param data     any alignment; borrowed for as long as out is used
 * @param size     bytes at data
 * @param address  where data lies in the unwound process (its virtual address, for a file)
 * @param error    where and why it failed; written on failure only; NULL: not wanted
 *
 * @return SFB_OK
 *         SFB_TRUNCATED     the header or a table ends past size
 *         SFB_BAD_MAGIC     the first two bytes are not 0xdee2 in either byte order
 *         SFB_BAD_VERSION   not version 1, 2 or 3
 *         SFB_BAD_HEADER    unknown flags or ABI, sub-sections that overlap, an ABI of the
 *                           other byte order
 *         SFB_BAD_ARGUMENT  out or data is NULL
 *
 * Threads: safe; shares nothing.   Signals: safe; no locks, heap, or errno.
 * Cost: constant.                  Source: SFrame specification, 1.1 and 1.2 of version 1, 2.1 and
 * 2.2 of version 3.
 */
SFB_API enum sfb_status sfb_section_open(struct sfb_section *out, const void *data, size_t size,
                                         uint64_t address, struct sfb_error *error);

/**
 * Opens what follows a section's tables: linkers that do not merge sections (gold, lld, mold 1)
 * leave those of all object files, headers included, one behind the other, each where 8 divides its
 * offset.
 *
 * sfb_section_find() and sfb_section_function() look into all of them; the other functions know
 * one.
 *
 * @param out      written on SFB_OK; may be `section` itself
 * @param section  that was opened with all bytes there are
 *
 * @return SFB_OK
 *         SFB_NO_SECTION  section->rest is 0: it is the last
 *         else as sfb_section_open(), with an offset that counts from the start of `section`
 *
 * Threads, signals: safe.   Cost: constant.   Source: what those linkers do.
 */
SFB_API enum sfb_status sfb_section_next(struct sfb_section *out, const struct sfb_section *section,
                                         struct sfb_error *error);

/**
 * Reads one function entry.
 *
 * @param out    written on SFB_OK
 * @param index  below section->fde_count
 * @param error  where and why, offset from the start of the section; NULL: not wanted
 *
 * @return SFB_OK
 *         SFB_BAD_FDE       its info words contradict the specification, or rows repeat every 0
 *                           bytes
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
 * By binary search if the section says that it is sorted, else by a scan for the first that covers
 * it. An entry that does not cover the pc is never given, sorted or not; one that does can be
 * missed where a section says that it is sorted and is not. A function covers [start, start +
 * size): gaps, functions of size zero and the byte past the last function are not covered. For a
 * return address ask for the byte before it.
 *
 * @param pc  address in the process
 *
 * @return SFB_OK, SFB_NO_FDE, and as sfb_fde_read() for the entry that was found
 *
 * Threads, signals: safe.   Cost: log2(fde_count) steps, or fde_count where it is not sorted.
 * Source: SFrame specification, 1.3 and 1.1.3 of version 1, 2.3 and 2.1.3 of version 3.
 */
SFB_API enum sfb_status sfb_fde_find(const struct sfb_section *section, uint64_t pc,
                                     struct sfb_fde *out, struct sfb_error *error);

/**
 * Says where the function that covers a pc begins, also if it is in one of the sections behind this
 * one.
 *
 * @param start  written on SFB_OK: address in the process
 *
 * @return as sfb_fde_find() and sfb_section_next()
 *
 * Threads, signals: safe.   Cost: as sfb_fde_find(), for each header.
 */
SFB_API enum sfb_status sfb_section_function(const struct sfb_section *section, uint64_t pc,
                                             uint64_t *start);

/**
 * Reads the row at a position, for walking all rows of a function.
 *
 * The first row is at fde->fre_offset, the next at out->position + out->size, fde->fre_count in
 * all.
 *
 * @return SFB_OK
 *         SFB_BAD_FRE   an offset size or count that this version does not have for this ABI
 *         SFB_TRUNCATED the row ends past the sub-section
 *
 * Threads, signals: safe.   Cost: constant.
 * Source: SFrame specification, 1.4 of version 1, 2.4 of version 3.
 */
SFB_API enum sfb_status sfb_fre_read(const struct sfb_section *section, const struct sfb_fde *fde,
                                     uint32_t position, struct sfb_fre *out,
                                     struct sfb_error *error);

/**
 * Finds the row of a function that holds at a pc: the last one that starts at or before it.
 *
 * In a PCMASK function, which describes one PLT entry for all of them, the pc counts from the start
 * of the function modulo fde->repeat_size.
 *
 * @return SFB_OK
 *         SFB_NO_FRE   the first row starts behind the pc, or there is none, or the pc is outside.
 *                      (A function of version 3 without rows is an outermost frame, says the
 *                      specification; gas writes it for functions whose CFI it cannot state, and
 *                      for those without any. Their .eh_frame knows.)
 *         SFB_BAD_FRE, SFB_TRUNCATED   as sfb_fre_read(); also rows that are out of order
 *
 * Threads, signals: safe.   Cost: the rows before the pc.
 * Source: SFrame specification, 1.3.2 of version 1, 2.3.3.1 of version 3.
 */
SFB_API enum sfb_status sfb_fre_find(const struct sfb_section *section, const struct sfb_fde *fde,
                                     uint64_t pc, struct sfb_fre *out, struct sfb_error *error);

/* What a flexible row says of CFA, RA or fp: the value, or where the word is that holds it. */
struct sfb_location {
    uint8_t how;    /* enum sfb_location_how */
    bool reg_based; /* counted from a register, else from the CFA */
    bool deref;     /* the word there, else the address itself */
    uint32_t reg;   /* DWARF number */
    int32_t offset;
};

enum sfb_location_how {
    SFB_LOCATION_ABSENT = 0, /* the row ends before it: as the header has it, or unchanged */
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
 * Takes the words of a row of a flexible function apart.
 *
 * @param out  by enum sfb_location_of; what was understood stands there in any case
 *
 * @return SFB_OK
 *         SFB_BAD_FRE  words are left over, a pair is half there, or a control word has a bit that
 *                      means nothing
 *
 * Threads, signals: safe.   Cost: constant.   Source: SFrame v3 specification, 3.2.
 */
SFB_API enum sfb_status sfb_fre_locations(const struct sfb_fre *fre,
                                          struct sfb_location out[SFB_LOCATION_COUNT]);

/**
 * Says what a row means.
 *
 * @return SFB_OK, or SFB_BAD_FRE for a row that cannot be a rule: a CFA below sp, on AMD64 below
 *         sp + 8; in versions 2 and 3 a PLT entry of AMD64 that begins with another CFA than
 *         sp + 8, as ld 2.41 and later have it for .plt.got; words of a flexible function that
 *         are no pairs, or count a CFA from itself
 *
 * Threads, signals: safe.   Cost: constant.
 * Source: SFrame specification, 1.4 of version 1, chapter 3 of version 3.
 */
SFB_API enum sfb_status sfb_fre_rule(const struct sfb_section *section, const struct sfb_fde *fde,
                                     const struct sfb_fre *fre, struct sfb_rule *out,
                                     struct sfb_error *error);

/**
 * Finds the rule for a pc: sfb_fde_find(), sfb_fre_find() and sfb_fre_rule() in one, and where no
 * function covers the pc the same in the section behind this one: see sfb_section_next().
 *
 * This is the call on the capture path.
 *
 * @param pc  address in the process; for a return address the byte before it
 *
 * @return SFB_OK, SFB_NO_FDE, SFB_NO_FRE, SFB_BAD_FDE, SFB_BAD_FRE, SFB_TRUNCATED; what
 *         sfb_section_next() says of a header further on
 *
 * Threads, signals: safe.   Cost: as those three, for each header up to the one that answers.
 */
SFB_API enum sfb_status sfb_section_find(const struct sfb_section *section, uint64_t pc,
                                         struct sfb_rule *out, struct sfb_error *error);

SFB_END_DECLS

#endif
