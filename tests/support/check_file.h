/*
 * Makes ELF files with .sframe and the .eh_frame that goes with it, field by field, in either byte
 * order, for all versions of the format: good ones, for tests to damage.
 *
 * It shares no constant with toolchain/check: layouts are written down here a second time.
 */
#ifndef SUPPORT_CHECK_FILE_H
#define SUPPORT_CHECK_FILE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "sfb/abi.h"

/* Sections, in this order; .rela.* are in object files only, .plt is in programs of AMD64 only. */
enum file_section {
    FILE_TEXT = 1,
    FILE_PLT,
    FILE_EH_FRAME,
    FILE_SFRAME,
    FILE_SYMTAB,
    FILE_STRTAB,
    FILE_NAMES,
    FILE_RELA_SFRAME,
    FILE_RELA_EH_FRAME,
    FILE_SECTIONS
};

/* Where things are in the file; in programs that is their address, too. */
enum {
    FILE_PHDRS_AT = 0x40,
    FILE_TEXT_AT = 0x1000,
    FILE_TEXT_SIZE = 0x100,
    FILE_PLT_AT = 0x1100,
    FILE_PLT_SIZE = 0x20,
    FILE_EH_FRAME_AT = 0x2000,
    FILE_SFRAME_AT = 0x3000,
    FILE_SYMTAB_AT = 0x5000,
    FILE_RELA_AT = 0x5800,
    FILE_SHDRS_AT = 0x6000,
    FILE_SIZE = FILE_SHDRS_AT + 64 * FILE_SECTIONS,
    FILE_EXTRA = 0x100 /* room in .sframe behind what is there */
};

enum { FILE_ROWS_MAX = 4, FILE_FUNCTIONS = 3 };

/* sh_type of .sframe from binutils 2.45 on. */
enum { FILE_SHT_GNU_SFRAME = 0x6ffffff4 };

/* CFA = base + cfa; ra and fp are offsets from the CFA, 0: not saved. */
struct file_row {
    uint32_t start;
    bool sp, is_signed;
    int32_t cfa, ra, fp;
};

struct file_function {
    uint32_t start, size; /* start: an address of the program */
    bool pcmask;
    unsigned row_count;
    struct file_row rows[FILE_ROWS_MAX];
};

/* What is to be made. */
struct file_plan {
    unsigned version;
    enum sfb_abi abi;
    bool relocatable;
    uint8_t aux_size, fde_gap, fre_gap;
    bool without_flags, without_eh_frame, without_symbols;
    bool key_b;        /* in .eh_frame, and in .sframe */
    bool signal;       /* .eh_frame says that all functions are signal trampolines */
    bool ra_undefined; /* .eh_frame says so of g */
    bool flex;         /* version 3: g is FLEX, with words 0x39 8 */
    bool repeats;      /* .sframe has a second row of g, at 0x10, that says the same */
    bool wide;         /* the starts of g's rows have two bytes */
    unsigned skip;     /* a function that .sframe lacks; 0: none */
    bool cfi_lacks_plt;
};

struct file {
    uint8_t at[FILE_SIZE];
    bool big;
    unsigned version, functions;
    size_t sframe_size;
    uint32_t fde[FILE_FUNCTIONS]; /* of each function: offsets in .sframe */
    uint32_t attribute[FILE_FUNCTIONS];
    uint32_t row[FILE_FUNCTIONS][FILE_ROWS_MAX + 1]; /* the last: the end of the last row */
    uint32_t eh_entry[FILE_FUNCTIONS];               /* in .eh_frame */
};

/* f at 0x1000, 0x30 bytes, three rows; g at 0x1040, 0x20 bytes, one row; .plt, two entries. */
void file_make(struct file *out, const struct file_plan *plan);

/* Overwrites bytes of the file. */
void file_set(struct file *f, size_t at, size_t width, uint64_t value);
uint64_t file_get(const struct file *f, size_t at, size_t width);

/* Makes .sframe longer or shorter: the section, and the segment. */
void file_resize(struct file *f, size_t size);

/* Where a field of a section header or program header is. */
size_t file_shdr(enum file_section section, size_t field);
size_t file_phdr(unsigned index, size_t field);

#endif
