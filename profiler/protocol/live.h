/*
 * The live table: the live blocks of a process that profiles its own heap, in one mapping. The agent writes it
 * (profiler/agent/live). `sfb ctl` reads it, even after the process was killed.
 *
 *     offset 0     struct sfb_live, a page
 *     slots_at     slot_room slots of 16 bytes: struct sfb_live_slot. Slot 0 is unused
 *     buckets_at   bucket_count buckets of 8 bytes: the hash table of stacks. Only the agent reads it
 *     stacks_at    stack_room stacks of 32 bytes: struct sfb_live_stack. Stack 0 is unused
 *     pieces_at    piece_room pieces of 32 bytes: struct sfb_live_piece, the CBF of stacks. Piece 0 is unused
 *     marks_at     a bit a stack: the walk of reclaim.h has met a block of it
 *     beside_at    beside_count entries of 8 bytes: the slots of large blocks by address. Only the agent reads it
 *     lists_at     module lists
 *     freed_at     freed_room blocks of 32 bytes: struct sfb_live_freed, a ring of the last ones freed
 *
 * A stack without blocks is freed, and its place is used again with the next generation. A slot has the last bits of its
 * stack's generation. A reader notes the generation of each stack before it reads the slots, and compares it after it has
 * read the stack's bytes. The stack is the slot's if the bits are the same, and if fewer than SFB_LIVE_GENERATIONS
 * generations have passed.
 *
 * A page is allocated at its first write. Parts not used yet may have no memory; they read as zeros, and reading them
 * allocates nothing.
 *
 * Each block has a tail: the last four bytes of its usable size hold its slot number. A block without a slot (the table
 * is full, or samples) has a mark there: sfb_live_mark(). Blocks of SFB_LIVE_LARGE bytes and more have a tail only where the
 * allocator gives four bytes more than asked for; else their slack is SFB_LIVE_SLACK_BESIDE. Over LeakSanitizer no block has one.
 *
 * A reader trusts no byte of another process's map.
 */
#ifndef PROFILER_PROTOCOL_LIVE_H
#define PROFILER_PROTOCOL_LIVE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define SFB_LIVE_MAGIC "sfblive" /* 8 bytes with the '\0' */

/* Its file: "sfb-heap-PID-START.live" in $XDG_RUNTIME_DIR or SFB_LIVE_FOLDER. START is as in /proc/PID/stat. */
#define SFB_LIVE_FILE   "sfb-heap-"
#define SFB_LIVE_SUFFIX ".live"
#define SFB_LIVE_FOLDER "/dev/shm"

enum {
    SFB_LIVE_VERSION = 3,
    SFB_LIVE_PAGE = 4096,
    SFB_LIVE_TAIL = 4, /* bytes added to each block for its tail */
    SFB_LIVE_LARGE = 4096,
    SFB_LIVE_UNIT = 16,      /* of all offsets */
    SFB_LIVE_CBF_MAX = 4096, /* bytes of a stack; outer frames beyond are cut off */
    SFB_LIVE_LISTS = 64,     /* module lists kept */
    SFB_LIVE_TEXT = 1536,    /* path of the program and its arguments */
    SFB_LIVE_LEVELS = 3      /* sampling levels, from 1; level 0: every block */
};

#define SFB_LIVE_SIZE_MIN ((uint64_t)2 << 20)
#define SFB_LIVE_SIZE_MAX ((uint64_t)4 << 30)

/* Mean bytes between two samples at a level. */
#define SFB_LIVE_RATE(level) ((uint64_t)524288 << (5 * ((level)-1)))

struct sfb_live_slot {
    /*
     * Live: address | slack << 48 (below). Free: next free slot << 1 | 1. 0: never used. Set to free before the
     * allocator gets the block back; set to live after the rest of the slot is written.
     * SFB_LIVE_HELD: no block yet, but its stack is in use.
     */
    uint64_t block;
    uint64_t what; /* stack << 41 | generation << 38 | level << 36 | era << 32 | requested size */
};

/* A module list: its place in the area at lists_at. */
struct sfb_live_list {
    uint64_t place; /* offset << 24 | size */
    uint64_t
        time; /* CLOCK_MONOTONIC ns: earliest time that its first new module may have been mapped */
};

enum sfb_live_flags {
    SFB_LIVE_PRIVATE = 1, /* no file could be made: other processes cannot see this map */
    SFB_LIVE_ENDED = 2,   /* the process has exited, or stopped profiling */
    SFB_LIVE_LOCKED = 4,  /* the agent locks the file while it is mapped: see F_OFD_GETLK */
    SFB_LIVE_BYPASSED = 8 /* modules bypass the agent: RTLD_DEEPBIND, __libc_malloc() */
};

enum { SFB_LIVE_ERAS = 16, SFB_LIVE_NAME = 32 };

/* A mark begins an era: blocks that are allocated from then on have its number. Only `sfb ctl` writes marks. */
struct sfb_live_mark {
    uint64_t time; /* CLOCK_MONOTONIC ns; 0: unused. Era 0 begins with the table */
    char name[SFB_LIVE_NAME];
};

/* Counts of the whole process since the table began. */
struct sfb_live_counts {
    uint64_t foreign;      /* unknown blocks freed: older than the table, or another allocator's */
    uint64_t overruns;     /* blocks freed with an overwritten tail */
    uint64_t unidentified; /* blocks foreign, overrun, or behind an overrun: not known which */
    uint64_t unsampled;    /* blocks not sampled */
    uint64_t no_slot;      /* samples dropped: all slots are taken */
    uint64_t no_stack;     /* blocks recorded without their stack: the table of stacks is full */
    uint64_t no_list;      /* module lists that did not fit */
};

/* Stacks or pieces. Cells from `used` on were never used; cells from `ready` on have no memory yet. */
struct sfb_live_cells {
    uint64_t free; /* linked stack of free cells: change count << 32 | first */
    uint32_t used, ready, free_count;
    uint32_t unused;
};

/* Progress of the walk that frees stacks: profiler/agent/live/reclaim.h. */
struct sfb_live_reclaim {
    uint32_t lock;  /* 1: a thread does a step */
    uint32_t phase; /* enum of reclaim.c */
    uint32_t ready; /* 1: marks have memory */
    uint32_t at, end;
    uint32_t unused;
    uint64_t freed; /* stacks so far */
};

struct sfb_live {
    char magic[8];
    uint32_t version;
    uint32_t abi; /* enum sfb_abi */
    uint32_t pid;
    uint32_t flags;
    uint64_t ticks;     /* when the process started, as in /proc/PID/stat */
    uint64_t monotonic; /* when the table began, in ns */
    uint64_t realtime;
    uint64_t size; /* of the map */
    uint64_t slots_at, buckets_at, stacks_at, pieces_at, marks_at, beside_at, lists_at;
    uint32_t slot_room, bucket_count, stack_room, piece_room, beside_count, lists_size;

    /* Variable fields; those above are fixed. */
    uint32_t slots_used;     /* later slots were never used */
    uint32_t slots_ready;    /* later slots have no memory yet */
    uint32_t slots_bound;    /* slots, where the file system has no room for more; 0: slot_room */
    uint32_t lists_ready[2]; /* bytes of the current list's two places that have memory */
    struct sfb_live_cells stacks, pieces;
    uint64_t buckets_ready; /* a bit for each 64th of the buckets that has memory */
    uint64_t beside_ready;  /* of the entries beside */
    struct sfb_live_reclaim reclaim;
    uint64_t
        free_batches; /* stack of lists of free slots: change count << 32 | first slot of the first list */
    uint32_t slots_free; /* slots in free_batches */
    uint32_t level;      /* current sampling level */
    uint32_t level_most;
    uint32_t list;       /* number of the current module list; earlier ones keep their places */
    uint32_t list_lock;  /* the thread that writes or copies lists; 0: unlocked */
    uint32_t lists_used; /* bytes of the area beyond the two of the current list */
    struct sfb_live_counts counts;
    struct sfb_live_list lists[SFB_LIVE_LISTS];
    uint32_t text_size;
    char text[SFB_LIVE_TEXT]; /* path of the program, '\0', then its arguments, each with '\0' */
    uint64_t list_hash;       /* private to the agent: hash of the current list; 0: no list yet */
    uint64_t unseen; /* BYPASSED: blocks that were allocated or freed past the agent, or overrun */
    uint32_t era;    /* of blocks allocated now */
    uint32_t unused;
    struct sfb_live_mark marks[SFB_LIVE_ERAS];
    uint64_t freed_at, freed_next; /* freed_next: blocks so far */
    uint32_t freed_room;           /* a power of two; 0: none are remembered */
    uint32_t unused_2;
    uint64_t
        headers; /* blocks freed whose size in the allocator, before the block, was overwritten */
};

_Static_assert(sizeof(struct sfb_live) <= SFB_LIVE_PAGE, "a page");

struct sfb_live_stack {
    uint32_t next;  /* first piece of its CBF; free: the next free stack */
    uint32_t state; /* generation << 2 | enum sfb_live_phase */
    uint64_t hash;
    uint16_t cbf_size;
    uint16_t list;     /* module list number % 65536 */
    uint32_t overruns; /* its blocks freed with an overwritten tail */
    uint64_t unused;
};

/* A freed block. Its stacks may be freed, too: their whole generations say so, however many have passed. */
struct sfb_live_freed {
    uint64_t address; /* 0: none, or it is being written */
    uint64_t what;    /* of its slot */
    uint64_t by;      /* the stack that freed it, as in a slot */
    uint32_t generation, by_generation;
};

_Static_assert(sizeof(struct sfb_live_freed) == 32, "the ring's step");

enum { SFB_LIVE_FREED_MAX = 1 << 20 };

enum sfb_live_phase {
    SFB_LIVE_NO_STACK,
    SFB_LIVE_STACK,
    SFB_LIVE_DOOMED /* a walk found no block of it; freed unless the next one does */
};

enum { SFB_LIVE_CELL = 32, SFB_LIVE_PIECE_WORDS = 7, SFB_LIVE_PIECE_BYTES = 28 };

struct sfb_live_piece {
    uint32_t next; /* of the CBF, or of the free ones; 0: the last one */
    uint32_t cbf[SFB_LIVE_PIECE_WORDS];
};

_Static_assert(sizeof(struct sfb_live_stack) == SFB_LIVE_CELL &&
                   sizeof(struct sfb_live_piece) == SFB_LIVE_CELL,
               "cells");

/* --- slots ---------------------------------------------------------------------------------------- */

#define SFB_LIVE_BLOCK_BITS 48
#define SFB_LIVE_BLOCK_MASK (((uint64_t)1 << SFB_LIVE_BLOCK_BITS) - 1)
#define SFB_LIVE_SIZE_BITS  32
#define SFB_LIVE_SIZE_MASK  (((uint64_t)1 << SFB_LIVE_SIZE_BITS) - 1)
#define SFB_LIVE_SIZE_PAGES                                                                        \
    ((uint64_t)1 << (SFB_LIVE_SIZE_BITS - 1)) /* sizes from this on: in pages, rounded up */
#define SFB_LIVE_STACK_MAX ((uint32_t)1 << 23)
#define SFB_LIVE_PIECE_MAX ((uint32_t)1 << 30)

#define SFB_LIVE_HELD UINT64_MAX

enum { SFB_LIVE_GENERATIONS = 8 }; /* that a slot tells from each other */

static inline bool sfb_live_is_block(uint64_t block)
{
    return block != 0 && (block & 1) == 0;
}

static inline uint64_t sfb_live_address(uint64_t block)
{
    return block & SFB_LIVE_BLOCK_MASK;
}

static inline uint64_t sfb_live_pages_up(uint64_t size)
{
    return (size + SFB_LIVE_PAGE - 1) & ~(uint64_t)(SFB_LIVE_PAGE - 1);
}

static inline uint64_t sfb_live_size_bits(uint64_t size)
{
    const uint64_t most = (SFB_LIVE_SIZE_PAGES - 1) * SFB_LIVE_PAGE;

    if (__builtin_expect(size < SFB_LIVE_SIZE_PAGES, 1))
        return size;
    return SFB_LIVE_SIZE_PAGES | (size < most ? sfb_live_pages_up(size) : most) / SFB_LIVE_PAGE;
}

/* @param stack  id << 3 | last bits of its generation; 0: unknown */
static inline uint64_t sfb_live_what(uint32_t stack, uint32_t level, uint32_t era, uint64_t size)
{
    return (uint64_t)stack << 38 | (uint64_t)level << 36 |
           (uint64_t)(era % SFB_LIVE_ERAS) << SFB_LIVE_SIZE_BITS | sfb_live_size_bits(size);
}

static inline uint32_t sfb_live_stack_of(uint64_t what)
{
    return (uint32_t)(what >> 41);
}

static inline uint32_t sfb_live_generation_of(uint64_t what)
{
    return (uint32_t)(what >> 38) % SFB_LIVE_GENERATIONS;
}

static inline uint32_t sfb_live_level_of(uint64_t what)
{
    return (uint32_t)(what >> 36) & 3;
}

static inline uint32_t sfb_live_era_of(uint64_t what)
{
    return (uint32_t)(what >> SFB_LIVE_SIZE_BITS) % SFB_LIVE_ERAS;
}

static inline uint64_t sfb_live_size_of(uint64_t what)
{
    const uint64_t bits = what & SFB_LIVE_SIZE_MASK;

    return bits < SFB_LIVE_SIZE_PAGES ? bits : (bits - SFB_LIVE_SIZE_PAGES) * SFB_LIVE_PAGE;
}

/*
 * Slack: distance from the end of the requested size to the tail; with it, other processes find the tail. In bytes; in
 * pages if it is large and the usable size is whole pages.
 */
enum {
    SFB_LIVE_SLACK_PAGES = 0x8000,
    SFB_LIVE_SLACK_BESIDE = 0xfffe, /* the block has no tail */
    SFB_LIVE_SLACK_UNKNOWN = 0xffff
};

static inline bool sfb_live_is_beside(uint64_t block)
{
    return block >> SFB_LIVE_BLOCK_BITS == SFB_LIVE_SLACK_BESIDE;
}

static inline uint32_t sfb_live_slack(uint64_t size, uint64_t usable)
{
    uint64_t slack = usable - SFB_LIVE_TAIL - size, pages;

    if (slack < SFB_LIVE_SLACK_PAGES)
        return (uint32_t)slack;
    pages = (usable - sfb_live_pages_up(size + SFB_LIVE_TAIL)) / SFB_LIVE_PAGE;
    return usable % SFB_LIVE_PAGE == 0 && pages < SFB_LIVE_SLACK_BESIDE - SFB_LIVE_SLACK_PAGES
               ? SFB_LIVE_SLACK_PAGES | (uint32_t)pages
               : SFB_LIVE_SLACK_UNKNOWN;
}

/* @return the address of the tail of a slot's block; 0: unknown */
static inline uint64_t sfb_live_tail_at(uint64_t block, uint64_t what)
{
    const uint64_t size = sfb_live_size_of(what), at = sfb_live_address(block);
    const uint32_t slack = (uint32_t)(block >> SFB_LIVE_BLOCK_BITS);

    if (slack >= SFB_LIVE_SLACK_BESIDE || size >= SFB_LIVE_SIZE_PAGES)
        return 0;
    if (slack < SFB_LIVE_SLACK_PAGES)
        return at + size + slack;
    return at + sfb_live_pages_up(size + SFB_LIVE_TAIL) +
           (uint64_t)(slack - SFB_LIVE_SLACK_PAGES) * SFB_LIVE_PAGE - SFB_LIVE_TAIL;
}

/* @return the end of what a block has from its allocator, with its tail, as far as the slot knows */
static inline uint64_t sfb_live_end_of(struct sfb_live_slot slot)
{
    const uint64_t tail = sfb_live_tail_at(slot.block, slot.what);

    if (tail != 0)
        return tail + SFB_LIVE_TAIL;
    return sfb_live_address(slot.block) + sfb_live_size_of(slot.what) +
           (sfb_live_is_beside(slot.block) ? 0 : SFB_LIVE_TAIL);
}

/* Tail of a block without a slot: never a slot number, and different from block to block. */
static inline uint32_t sfb_live_mark(uint64_t address)
{
    return (uint32_t)(address * UINT64_C(0x9e3779b97f4a7c15) >> 32) | UINT32_C(1) << 31;
}

/* --- stacks --------------------------------------------------------------------------------------- */

static inline uint32_t sfb_live_generation(uint32_t state)
{
    return state >> 2;
}

static inline enum sfb_live_phase sfb_live_phase(uint32_t state)
{
    return (enum sfb_live_phase)(state & 3);
}

/* Pieces of a CBF. */
static inline uint32_t sfb_live_pieces(size_t cbf_size)
{
    return (uint32_t)((cbf_size + SFB_LIVE_PIECE_BYTES - 1) / SFB_LIVE_PIECE_BYTES);
}

/* --- freed blocks --------------------------------------------------------------------------------- */

/* @return a copy; address 0: none, or it was overwritten meanwhile */
static inline struct sfb_live_freed sfb_live_freed_read(const struct sfb_live_freed *at)
{
    struct sfb_live_freed copy = { .address = __atomic_load_n(&at->address, __ATOMIC_ACQUIRE),
                                   .what = __atomic_load_n(&at->what, __ATOMIC_ACQUIRE),
                                   .by = __atomic_load_n(&at->by, __ATOMIC_ACQUIRE),
                                   .generation = __atomic_load_n(&at->generation, __ATOMIC_ACQUIRE),
                                   .by_generation =
                                       __atomic_load_n(&at->by_generation, __ATOMIC_ACQUIRE) };

    if (__atomic_load_n(&at->address, __ATOMIC_ACQUIRE) != copy.address)
        copy.address = 0;
    return copy;
}

#endif
