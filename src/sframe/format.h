/*
 * The bytes of an SFrame section: offsets, sizes and bits that all versions share, each with its
 * section of the version 1 specification. Differences between versions are in layout.h. No C struct is
 * laid over the data: entries of version 1 are 17 bytes apart, and rows are not aligned at all.
 */
#ifndef SFB_SFRAME_FORMAT_H
#define SFB_SFRAME_FORMAT_H

/* 1.1: the preamble, "the only part of the SFrame whose format cannot vary between versions". */
enum {
    SFB_SFP_MAGIC = 0,
    SFB_SFP_VERSION = 2,
    SFB_SFP_FLAGS = 3,
    SFB_PREAMBLE_SIZE = 4,

    SFB_MAGIC = 0xdee2,
    SFB_MAGIC_SWAPPED = 0xe2de /* 1.1.1: as it appears in a section of the other byte order */
};

/* 1.2: the header. The offsets it holds count from its end, the auxiliary header included. */
enum {
    SFB_SFH_ABI_ARCH = 4,
    SFB_SFH_CFA_FIXED_FP_OFFSET = 5,
    SFB_SFH_CFA_FIXED_RA_OFFSET = 6,
    SFB_SFH_AUXHDR_LEN = 7,
    SFB_SFH_NUM_FDES = 8,
    SFB_SFH_NUM_FRES = 12,
    SFB_SFH_FRE_LEN = 16,
    SFB_SFH_FDEOFF = 20,
    SFB_SFH_FREOFF = 24,
    SFB_HEADER_SIZE = 28,
    SFB_HEADER_ALIGNMENT = 8 /* of the section in object files: see sfb_section_next() */
};

/* 1.3.1: the info word of a function entry. */
enum {
    SFB_FDE_INFO_FRE_TYPE = 0x0f, /* 1.3.3 */
    SFB_FDE_INFO_PCMASK = 0x10,   /* 1.3.2 */
    SFB_FDE_INFO_KEY_B = 0x20,
    SFB_FDE_INFO_SIGNAL = 0x80, /* version 3, 2.3.3 */

    SFB_FDE_INFO2_FLEXIBLE = 0x01 /* version 3, 2.3.3.2; the other 7 bits are not defined */
};

/* 1.4: a row is its start, 1, 2 or 4 bytes wide, this info byte, then the offsets: data words. */
enum {
    SFB_FRE_INFO_BASE_SP = 0x01, /* 1.4.1 names the bit and not its values: 1 is SP, 0 is FP */
    SFB_FRE_INFO_COUNT_SHIFT = 1,
    SFB_FRE_INFO_COUNT_MASK = 0x0f,
    SFB_FRE_INFO_WIDTH_SHIFT = 5,
    SFB_FRE_INFO_WIDTH_MASK = 0x03, /* log2 of the bytes of an offset; 3 is not defined */
    SFB_FRE_INFO_MANGLED_RA = 0x80
};

/* Version 3, 3.2: the first word of a pair in a row of a flexible function. */
enum {
    SFB_CONTROL_REG = 0x1,   /* counted from a register, else from the CFA */
    SFB_CONTROL_DEREF = 0x2, /* the word there, else the address itself */
    SFB_CONTROL_UNUSED = 0x4,
    SFB_CONTROL_REG_SHIFT = 3,
    SFB_CONTROL_NONE = 0 /* padding: nothing is said, and no offset follows */
};

#endif
