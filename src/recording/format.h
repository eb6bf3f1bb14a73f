/* The bytes of a recording: docs/FORMATS.md, "Recording". All numbers are little endian. */
#ifndef SFB_RECORDING_FORMAT_H
#define SFB_RECORDING_FORMAT_H

#include <stdint.h>

/*
 * The file's header. The magic shows a transfer that changed line ends or cleared eighth bits, as PNG's does.
 *
 *     0  8  magic
 *     8  1  major version: another one cannot be read
 *     9  1  minor version: any can be read
 *    10  2  size of this header: the first block lies behind it
 *    12  4  CRC-32C of the 12 bytes before
 */
#define RECORDING_MAGIC "\x8bSFBR\r\n\x1a"
enum {
    RECORDING_MAGIC_SIZE = 8,
    RECORDING_MAJOR = 1,
    RECORDING_MINOR = 1, /* 1: the heap */
    RECORDING_HEADER_SIZE = 16,
    RECORDING_HEADER_CRC = 12
};

/*
 * A block's header, then its payload.
 *
 *     0  4  magic
 *     4  1  type
 *     5  1  version of the type: any can be read
 *     6  2  flags
 *     8  4  process (id) whose agent wrote it; 0: the recorder, of any process
 *    12  4  thread (id), as well
 *    16  8  sequence: records in all blocks before
 *    24  4  records in it
 *    28  4  bytes of the payload as it is stored
 *    32  4  bytes of the payload when it is unpacked
 *    36  4  CRC-32C of the payload as it is stored
 *    40  4  CRC-32C of the 40 bytes before
 */
#define RECORDING_BLOCK_MAGIC "\xb5SFb"
enum { RECORDING_BLOCK_MAGIC_SIZE = 4, RECORDING_BLOCK_HEADER_SIZE = 44, RECORDING_BLOCK_CRC = 40 };

/* Of a payload, stored and unpacked. A reader has memory for one. */
enum { RECORDING_PAYLOAD_MAX = 16 << 20 };

enum recording_block {
    RECORDING_START = 1,
    RECORDING_EVENTS = 2,
    RECORDING_FILE = 3,
    RECORDING_HEAP = 18 /* events of a process's heap */
    /* others from 16 to 31: docs/FORMATS.md says what for */
};

/* Any other flag is of a later version, and its block cannot be read. */
enum recording_flags {
    RECORDING_ZSTD = 0x1,   /* the payload is one frame of zstd */
    RECORDING_COLUMNS = 0x2 /* events lie in columns */
};

/*
 * Records of RECORDING_EVENTS. Up to RECORDING_COMPACT a record is its number, the bytes of its body, and its body:
 * what is not known is passed over. Numbers are those of enum sfb_recording_kind.
 */
enum recording_record {
    RECORDING_COMPACT = 64, /* from here on, only in columns */
    RECORDING_SAMPLE_BY_TIME = 64,
    RECORDING_SAMPLE_BY_WEIGHT = 65,
    RECORDING_STACK_TREE = 66
};

/* Columns, in the order of the file. A later minor version may have more behind them. */
enum recording_column {
    COLUMN_RECORDS,   /* a byte each: enum recording_record */
    COLUMN_BODIES,    /* of those below RECORDING_COMPACT, each with its size before it */
    COLUMN_THREADS,   /* of samples: id */
    COLUMN_TIMES,     /* ns since the sample before, signed */
    COLUMN_WEIGHTS,   /* ns less what was expected, signed */
    COLUMN_STACK_IDS, /* 0: none; else the newest stack's id less this one, and 1 */
    COLUMN_ENDS,      /* engine + 8 * status */
    COLUMN_PROCESSES, /* of stacks: id */
    COLUMN_PARENTS,   /* node on which a stack is put: the low byte */
    COLUMN_PARENTS_HIGH,
    COLUMN_COUNTS, /* nodes that it adds */
    COLUMN_NODES,  /* symbol of each, from the outermost: the low byte */
    COLUMN_NODES_HIGH,
    COLUMN_SYMBOLS, /* sorted: for each kind how many, then the difference of each to the one before */
    COLUMN_COUNT
};

/* Columns of RECORDING_HEAP, in the order of the file. */
enum recording_heap_column {
    HEAP_SYMBOLS, /* of events and time marks: enum recording_heap_symbol */
    HEAP_TIMES,   /* of marks: ns since the one before */
    HEAP_SITES, /* of each pair of a site and a size that the block has: less that of the one before, signed */
    HEAP_SIZES,
    HEAP_COLUMNS
};

/* Pairs are numbered in each block as they come first, so a block needs no other one. */
enum recording_heap_symbol {
    HEAP_MARK = 0,
    HEAP_NEW = 1,      /* the next pair, allocated; 2: freed */
    HEAP_ALLOCATED = 3 /* + 2 * pair; + 1: freed */
};

/* Of a block. A reader has memory for these. */
enum { RECORDING_PAIRS_MAX = 1 << 20 };

/* COLUMN_ENDS has three bits for it. */
enum { RECORDING_ENGINE_MAX = 7 };

/* Of a block. What stacks unpack to is bounded by the last three. */
enum {
    RECORDING_NODES_MAX = 32768,
    RECORDING_SYMBOLS_MAX = 32768,
    RECORDING_ITEMS_MAX = 4096,     /* instructions of a stack in the tree */
    RECORDING_FRAMES_MAX = 1 << 20, /* of all its stacks, repeats counted */
    RECORDING_STACK_BYTES = 4 << 20 /* of all its stacks */
};

/* What nodes of the tree stand for: instructions of CBF, and what is around them. */
enum recording_symbol_kind {
    SYMBOL_PC = 0,
    SYMBOL_RA = 1,
    SYMBOL_ASYNC = 2,
    SYMBOL_OMIT = 3,
    SYMBOL_REP = 4,
    SYMBOL_ROOT = 5, /* info byte, and 256 if the stack is truncated */
    SYMBOL_KINDS = 6
};

static inline void recording_put_le(uint8_t *at, uint64_t value, unsigned size)
{
    for (unsigned i = 0; i < size; i++)
        at[i] = (uint8_t)(value >> 8 * i);
}

static inline uint64_t recording_get_le(const uint8_t *at, unsigned size)
{
    uint64_t value = 0;

    for (unsigned i = 0; i < size; i++)
        value |= (uint64_t)at[i] << 8 * i;
    return value;
}

#endif
