/* Unstable: may change in any release. Its functions are in the static library only. */
/**
 * .eh_frame: a checked view of one module's, through the sorted table of its .eh_frame_hdr, in
 * place.
 *
 * Nothing is copied or allocated, no alignment is needed, and no byte is trusted. Either byte order
 * is read.
 *
 * Sources: LSB Core, "Exception Frames"; DWARF 5, section 6.4 "Call Frame Information"; AADWARF64
 * for signed return addresses. Where they state nothing, libgcc's behaviour is followed.
 */
#ifndef SFB_EH_FRAME_H
#define SFB_EH_FRAME_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "abi.h"
#include "rule.h"
#include "status.h"

SFB_BEGIN_DECLS

/* Offsets count from data. */
struct sfb_eh_frame {
    const uint8_t *data;   /* borrowed: memory that holds both sections */
    uint64_t address;      /* where data lies in the unwound process */
    uint64_t frames;       /* where .eh_frame lies there, by its header */
    uint32_t size;         /* bytes at data */
    uint32_t gap, gap_end; /* offsets [gap, gap_end) are not readable; as a rule both are 0 */
    uint32_t hdr;          /* offset of .eh_frame_hdr */
    uint32_t table; /* offset of its first entry: two words of 32 bits, sorted by the first */
    uint32_t count; /* entries */
    uint8_t abi;    /* enum sfb_abi */
    bool swap;      /* the byte order is not the host's */
};

/* One frame description entry, and what its common information entry says. */
struct sfb_cfi_fde {
    uint64_t start, end; /* [start, end) of its code in the process */
    uint32_t offset;     /* of the entry */
    uint32_t cie_offset;
    uint32_t initial, initial_end; /* instructions of the CIE */
    uint32_t program, program_end; /* instructions of the FDE */
    uint32_t code_align;
    int32_t data_align;
    uint8_t ra_column;
    uint8_t encoding; /* of addresses in it */
    bool signal;      /* augmentation S */
    bool key_b;       /* augmentation B, AArch64 */
};

/* An iterator over all FDEs of a section, for tools: it needs no table. */
struct sfb_eh_frame_walk {
    struct sfb_eh_frame eh; /* the section without a table: for rows; a pc cannot be looked up */
    uint32_t next;          /* offset of the next entry */
    uint64_t work;          /* private */
};

/* An iterator over the rows of an FDE, for tools that read all of them. */
struct sfb_cfi_rows {
    uint64_t start, end; /* [start, end) of the code that the current row covers */
    bool varies;         /* an expression of the row has the pc in it: its rule depends on it */
    uint64_t state[112]; /* private */
};

/**
 * Checks an .eh_frame_hdr and describes its table.
 *
 * @param out          written on SFB_OK, untouched otherwise
 * @param data         the readable segment that the section is in; borrowed until out is last used
 * @param size         bytes at data; below 4 GiB
 * @param address      where data lies in the unwound process
 * @param hdr_address  where .eh_frame_hdr lies there: what PT_GNU_EH_FRAME says
 * @param abi          of the code: rules name its registers
 * @param error        where and why, on failure; NULL: not wanted
 *
 * @return SFB_OK
 *         SFB_TRUNCATED  the header or its table ends past data
 *         SFB_BAD_CFI    not version 1, or no table that can be searched
 *         SFB_BAD_ARGUMENT  out or data is NULL, size is 4 GiB or more, or hdr_address is outside
 *
 * Threads: safe.   Signals: safe.   Cost: constant.
 * Source: LSB, "The .eh_frame_hdr section".
 */
SFB_API enum sfb_status sfb_eh_frame_open(struct sfb_eh_frame *out, const void *data, size_t size,
                                          uint64_t address, uint64_t hdr_address, enum sfb_abi abi,
                                          struct sfb_error *error);

/**
 * Adds the segment of .eh_frame, if that is not the segment of .eh_frame_hdr. (A start file with a
 * writable .eh_frame makes the linker put it with the data.)
 *
 * Bytes between the two segments are never read.
 *
 * @param eh       opened, with the segment of the header; offsets may change
 * @param data     the other segment, as far from eh->data as their addresses are from each other;
 *                 borrowed, too
 * @param size     bytes at data
 * @param address  where data lies in the unwound process
 *
 * @return SFB_OK
 *         SFB_BAD_ARGUMENT  they overlap, span 4 GiB, or lie elsewhere; eh stays as it is
 *
 * Threads: safe.   Signals: safe.   Cost: constant.
 */
SFB_API enum sfb_status sfb_eh_frame_extend(struct sfb_eh_frame *eh, const void *data, size_t size,
                                            uint64_t address);

/**
 * Reads the FDE at an index of the table.
 *
 * @param eh     opened
 * @param index  below eh->count
 * @param out    written on SFB_OK
 * @param error  where and why, on failure; NULL: not wanted
 *
 * @return SFB_OK
 *         SFB_BAD_ARGUMENT            no such index
 *         SFB_TRUNCATED, SFB_BAD_CFI  the FDE or its CIE is corrupt
 *
 * Threads: safe.   Signals: safe.   Cost: constant.   Source: LSB, "The .eh_frame section".
 */
SFB_API enum sfb_status sfb_eh_frame_fde(const struct sfb_eh_frame *eh, uint32_t index,
                                         struct sfb_cfi_fde *out, struct sfb_error *error);

/**
 * Finds the FDE that covers a pc.
 *
 * @param eh     opened
 * @param pc     address in the process; for a return address the byte before it
 * @param out    written on SFB_OK
 * @param error  where and why, on failure; NULL: not wanted
 *
 * @return SFB_OK
 *         SFB_NO_CFI                  no FDE covers pc
 *         SFB_TRUNCATED, SFB_BAD_CFI  the table, the FDE or its CIE is corrupt
 *
 * Threads: safe.   Signals: safe.   Cost: log2(eh->count) steps.
 * Source: LSB, "The .eh_frame_hdr section".
 */
SFB_API enum sfb_status sfb_eh_frame_fde_find(const struct sfb_eh_frame *eh, uint64_t pc,
                                              struct sfb_cfi_fde *out, struct sfb_error *error);

/**
 * Finds the rule for a pc.
 *
 * @param eh     opened
 * @param pc     address in the process; for a return address the byte before it
 * @param out    written on SFB_OK
 * @param error  where and why, on failure; NULL: not wanted
 *
 * @return SFB_OK
 *         SFB_NO_CFI                  no FDE covers pc
 *         SFB_NOT_EXPRESSIBLE         no rule can state the row
 *         SFB_TRUNCATED, SFB_BAD_CFI  a table or an instruction is corrupt
 *
 * Threads: safe.   Signals: safe, with about 1 KiB of stack.
 * Cost: 150 to 300 ns: a binary search, then the FDE's instructions up to the pc.
 * Source: DWARF 5, 6.4.2 "Call Frame Instructions".
 */
SFB_API enum sfb_status sfb_eh_frame_find(const struct sfb_eh_frame *eh, uint64_t pc,
                                          struct sfb_rule *out, struct sfb_error *error);

/**
 * Starts before the first entry of an .eh_frame: one without .eh_frame_hdr, or a relocated copy of
 * an object file's.
 *
 * @param out      written on SFB_OK
 * @param data     the section; borrowed until out is last used
 * @param size     bytes at data; below 4 GiB
 * @param address  where data lies in the unwound process
 * @param abi      of the code: rules name its registers
 *
 * @return SFB_OK
 *         SFB_BAD_ARGUMENT  out or data is NULL, or size is 4 GiB or more
 *
 * Threads: safe.   Signals: safe.   Cost: constant.
 */
SFB_API enum sfb_status sfb_eh_frame_walk_init(struct sfb_eh_frame_walk *out, const void *data,
                                               size_t size, uint64_t address, enum sfb_abi abi);

/**
 * Goes to the next FDE, in the order in which they stand. CIEs and terminators are passed over.
 *
 * A corrupt entry does not end the walk: the next call goes on behind it, if its length is good.
 *
 * @param walk   started
 * @param out    written on SFB_OK
 * @param error  where and why, on failure; NULL: not wanted
 *
 * @return SFB_OK
 *         SFB_END                     there is no next one
 *         SFB_TRUNCATED, SFB_BAD_CFI  the entry or its CIE is corrupt
 *         SFB_WORK_LIMIT              the work limit is reached: large CIEs that many FDEs share
 *         SFB_BAD_ARGUMENT            walk or out is NULL
 *
 * Threads: safe.   Signals: safe.   Cost: the entry and the head of its CIE; all of a section at
 * most 64 times its bytes, and 1 MiB.
 * Source: LSB, "The .eh_frame section".
 */
SFB_API enum sfb_status sfb_eh_frame_walk_next(struct sfb_eh_frame_walk *walk,
                                               struct sfb_cfi_fde *out, struct sfb_error *error);

/**
 * Starts before the first row of an FDE.
 *
 * @param out    written on SFB_OK
 * @param eh     borrowed until out is last used
 * @param fde    of eh; borrowed for as long
 * @param error  where and why, on failure; NULL: not wanted
 *
 * @return SFB_OK
 *         SFB_BAD_CFI       the instructions of the CIE are corrupt
 *         SFB_BAD_ARGUMENT  an argument is NULL
 *
 * Threads: safe.   Signals: safe.   Cost: the instructions of the CIE.
 */
SFB_API enum sfb_status sfb_cfi_rows_init(struct sfb_cfi_rows *out, const struct sfb_eh_frame *eh,
                                          const struct sfb_cfi_fde *fde, struct sfb_error *error);

/**
 * Goes to the next row, first to the one at the start of the function.
 *
 * Rows join without gaps, from fde->start to fde->end; none is empty.
 *
 * @param rows   started
 * @param error  where and why, on failure; NULL: not wanted
 *
 * @return SFB_OK
 *         SFB_END           there is no next row; rows stays as it is
 *         SFB_BAD_CFI       an instruction is corrupt
 *         SFB_BAD_ARGUMENT  rows is NULL
 *
 * Threads: safe.   Signals: safe, with about 1 KiB of stack.   Cost: the row's instructions.
 * Source: DWARF 5, 6.4.2 "Call Frame Instructions".
 */
SFB_API enum sfb_status sfb_cfi_rows_next(struct sfb_cfi_rows *rows, struct sfb_error *error);

/**
 * Gives the rule of the current row at a pc.
 *
 * @param rows   on a row
 * @param pc     in [rows->start, rows->end); the rule depends on it only if rows->varies
 * @param out    written on SFB_OK
 * @param error  where and why, on failure; its field is the part at fault: "CFA", "RA", "fp" or
 *               "sp". NULL: not wanted
 *
 * @return SFB_OK
 *         SFB_NOT_EXPRESSIBLE  no rule can state the row
 *         SFB_BAD_CFI          an expression is corrupt
 *         SFB_BAD_ARGUMENT     an argument is NULL, or pc is outside of the row
 *
 * Threads: safe.   Signals: safe, with about 1 KiB of stack.   Cost: 100 ns.
 */
SFB_API enum sfb_status sfb_cfi_rows_rule(const struct sfb_cfi_rows *rows, uint64_t pc,
                                          struct sfb_rule *out, struct sfb_error *error);

SFB_END_DECLS

#endif
