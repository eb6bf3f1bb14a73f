/* The bytes of a recording: docs/FORMATS.md, "Recording". All numbers are little endian. */
#ifndef PROFILER_FORMAT_FORMAT_H
#define PROFILER_FORMAT_FORMAT_H

#include <stdint.h>

/*
 * The file's header. As with PNG, the magic reveals a transfer that changed line ends or cleared the eighth bits.
 *
 *     0  8  magic
 *     8  1  major version: others are unreadable
 *     9  1  minor version: all are readable
 *    10  2  size of this header: the first block follows it
 *    12  4  CRC-32C of the first 12 bytes
 */
#define RECORDING_MAGIC "\x8bSFBR\r\n\x1a"
enum {
    RECORDING_MAGIC_SIZE = 8,
    RECORDING_MAJOR = 1,
    RECORDING_MINOR = 2, /* 1: the heap; 2: waits */
    RECORDING_HEADER_SIZE = 16,
    RECORDING_HEADER_CRC = 12
};

/*
 * A block's header, followed by its payload.
 *
 *     0  4  magic
 *     4  1  type
 *     5  1  version of the type: all are readable
 *     6  2  flags
 *     8  4  process (id) whose agent wrote it; 0: the recorder, of any process
 *    12  4  thread (id), likewise
 *    16  8  sequence: records in all earlier blocks
 *    24  4  records in this block
 *    28  4  bytes of the payload as stored
 *    32  4  bytes of the unpacked payload
 *    36  4  CRC-32C of the payload as stored
 *    40  4  CRC-32C of the first 40 bytes
 */
#define RECORDING_BLOCK_MAGIC "\xb5SFb"
enum { RECORDING_BLOCK_MAGIC_SIZE = 4, RECORDING_BLOCK_HEADER_SIZE = 44, RECORDING_BLOCK_CRC = 40 };

/* Limit of a payload, stored and unpacked. A reader has memory for one payload. */
enum { RECORDING_PAYLOAD_MAX = 16 << 20 };

enum recording_block {
    RECORDING_START = 1,
    RECORDING_EVENTS = 2,
    RECORDING_FILE = 3,
    RECORDING_HEAP = 18 /* events of a process's heap */
    /* others from 16 to 31: see docs/FORMATS.md */
};

/* Any other flag is a later version's: the block is unreadable. */
enum recording_flags {
    RECORDING_ZSTD = 0x1,   /* the payload is one zstd frame */
    RECORDING_COLUMNS = 0x2 /* events are stored in columns */
};

/*
 * Records of RECORDING_EVENTS. Below RECORDING_COMPACT a record is its number, the size of its body, and its body:
 * unknown ones are skipped. Numbers are those in enum sfb_recording_kind.
 */
enum recording_record {
    RECORDING_COMPACT = 64, /* from here on, only in columns */
    RECORDING_SAMPLE_BY_TIME = 64,
    RECORDING_SAMPLE_BY_WEIGHT = 65,
    RECORDING_STACK_TREE = 66
};

/* Columns, in the order of the file. A later minor version may append more. */
enum recording_column {
    COLUMN_RECORDS,   /* a byte each: enum recording_record */
    COLUMN_BODIES,    /* of records below RECORDING_COMPACT, each after its size */
    COLUMN_THREADS,   /* of samples: id */
    COLUMN_TIMES,     /* ns since the previous sample, signed */
    COLUMN_WEIGHTS,   /* ns less the expected weight, signed */
    COLUMN_STACK_IDS, /* 0: no stack; else newest id - id + 1 */
    COLUMN_ENDS,      /* engine + 8 * status */
    COLUMN_PROCESSES, /* of stacks: id */
    COLUMN_PARENTS,   /* node that the stack continues from: low byte */
    COLUMN_PARENTS_HIGH,
    COLUMN_COUNTS, /* nodes that the stack adds */
    COLUMN_NODES,  /* symbol of each node, outermost first: low byte */
    COLUMN_NODES_HIGH,
    COLUMN_SYMBOLS, /* sorted: per kind a count, then differences */
    COLUMN_COUNT
};

/* Columns of RECORDING_HEAP, in the order of the file. */
enum recording_heap_column {
    HEAP_SYMBOLS, /* of events and time marks: enum recording_heap_symbol */
    HEAP_TIMES,   /* of marks: ns since the previous one */
    HEAP_SITES, /* of each pair (site and size) in the block: difference to the previous pair, signed */
    HEAP_SIZES,
    HEAP_COLUMNS
};

/* Each block numbers its pairs by first use, so it does not depend on other blocks. */
enum recording_heap_symbol {
    HEAP_MARK = 0,
    HEAP_NEW = 1,      /* the next pair, allocated; 2: freed */
    HEAP_ALLOCATED = 3 /* + 2 * pair; + 1: freed */
};

/* Per block. A reader has memory for so many. */
enum { RECORDING_PAIRS_MAX = 1 << 20 };

/* COLUMN_ENDS has three bits for the engine. */
enum { RECORDING_ENGINE_MAX = 8 };

/* Limits per block. The last three bound the size of the unpacked stacks. */
enum {
    RECORDING_NODES_MAX = 32768,
    RECORDING_SYMBOLS_MAX = 32768,
    RECORDING_ITEMS_MAX = 4096,     /* instructions of a stack in the tree */
    RECORDING_FRAMES_MAX = 1 << 20, /* in all stacks, with repeats */
    RECORDING_STACK_BYTES = 4 << 20 /* of all stacks */
};

/* Symbols of the tree's nodes: instructions of CBF, and the stack's root. */
enum recording_symbol_kind {
    SYMBOL_PC = 0,
    SYMBOL_RA = 1,
    SYMBOL_ASYNC = 2,
    SYMBOL_OMIT = 3,
    SYMBOL_REP = 4,
    SYMBOL_ROOT = 5, /* info byte; + 256 if the stack is truncated */
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
