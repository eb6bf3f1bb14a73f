/*
 * The live table: what a process that profiles its own heap keeps of its live blocks, in one map. The agent writes it
 * (src/record/live); `sfb ctl` reads it, also after the process was killed.
 *
 *     offset 0     struct sfb_live, a page
 *     slots_at     slot_room slots of 16 bytes: struct sfb_live_slot. Slot 0 is never used
 *     buckets_at   bucket_count places of 8 bytes: the hash table of stacks
 *     stacks_at    stack_units units of 16 bytes: struct sfb_live_stack, each with its CBF. A stack's id is its first unit
 *     lists_at     lists of modules
 *
 * Pages are the system's when they are first written. Parts that the agent has not come to yet may have no memory, and
 * reading them costs none: they read as zeros.
 *
 * In the block itself there are four bytes: the last ones of its usable size hold the number of its slot. A block that has
 * none (the table is full, or samples) has a mark there: sfb_live_mark().
 *
 * Who reads a map of another process trusts no byte of it.
 */
#ifndef SFB_RECORDER_LIVE_H
#define SFB_RECORDER_LIVE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define SFB_LIVE_MAGIC "sfblive" /* 8 bytes with the '\0' */

/* Its file: "sfb-heap-PID-START.live", the start as in /proc/PID/stat, in $XDG_RUNTIME_DIR or here. */
#define SFB_LIVE_FILE   "sfb-heap-"
#define SFB_LIVE_SUFFIX ".live"
#define SFB_LIVE_FOLDER "/dev/shm"

enum {
    SFB_LIVE_VERSION = 1,
    SFB_LIVE_PAGE = 4096,
    SFB_LIVE_TAIL = 4, /* bytes that are taken of a block */
    SFB_LIVE_UNIT = 16,
    SFB_LIVE_CBF_MAX = 4096, /* of a stack: its outer end is cut off */
    SFB_LIVE_LISTS = 64,     /* lists of modules that are kept */
    SFB_LIVE_TEXT = 1536,    /* path of the program and its arguments */
    SFB_LIVE_LEVELS = 3      /* of sampling, from 1 on; 0: every block */
};

#define SFB_LIVE_SIZE_MIN ((uint64_t)2 << 20)
#define SFB_LIVE_SIZE_MAX ((uint64_t)4 << 30)

/* Mean bytes between two samples at a level. */
#define SFB_LIVE_RATE(level) ((uint64_t)524288 << (5 * ((level)-1)))

struct sfb_live_slot {
    /*
     * Live: the address of the block, and the slack << 48 (below). Free: the next free slot << 1 | 1. 0: never used.
     * Set to free before the block is given back, and to the block after all else of it is written.
     */
    uint64_t block;
    uint64_t what; /* stack << 38 | level << 36 | size asked for */
};

/* Numbers of the lists that were written, by their positions in the area: offset << 24 | size. */
struct sfb_live_list {
    uint64_t place;
    uint64_t time; /* CLOCK_MONOTONIC ns of when the first module of it may have come */
};

enum sfb_live_flags {
    SFB_LIVE_PRIVATE = 1, /* no file could be made: nobody else sees this map */
    SFB_LIVE_ENDED = 2,   /* the process has ended by itself, or stopped this */
    SFB_LIVE_LOCKED = 4   /* the mapping holds a lock on the file: F_OFD_GETLK */
};

/* Counts of the whole process, since the beginning. */
struct sfb_live_counts {
    uint64_t
        foreign; /* blocks freed that it did not know: older than the table, or another allocator's */
    uint64_t overruns;  /* blocks whose tail was overwritten, found when they were freed */
    uint64_t untold;    /* blocks that were one of the two: there was no time to look which */
    uint64_t unsampled; /* blocks that got no slot, since the table samples */
    uint64_t no_slot;   /* samples that got none: all slots are taken */
    uint64_t no_stack;  /* blocks that stand without their stack: there is no room for another */
    uint64_t no_list;   /* lists of modules that did not fit */
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
    uint64_t slots_at, buckets_at, stacks_at, lists_at;
    uint32_t slot_room, bucket_count, stack_units, lists_size;

    /* What changes. */
    uint32_t slots_used;  /* those behind were never used */
    uint32_t slots_ready; /* those behind have no memory yet */
    uint32_t units_used, units_ready;
    uint64_t
        free_batches; /* a stack of lists of free slots: times changed << 32 | first slot of the first list */
    uint32_t slots_free; /* in those lists */
    uint32_t level;      /* of sampling now */
    uint32_t level_most;
    uint32_t list;       /* of modules that holds now; those before have their places, too */
    uint32_t list_lock;  /* the thread that writes or copies lists; 0: none does */
    uint32_t lists_used; /* bytes of the area behind the two of the list that holds now */
    struct sfb_live_counts counts;
    struct sfb_live_list lists[SFB_LIVE_LISTS];
    uint32_t text_size;
    char text[SFB_LIVE_TEXT]; /* path of the program, '\0', then its arguments, each with '\0' */
    uint64_t list_hash;       /* the agent's own: of the list that holds; 0: there was none yet */
};

_Static_assert(sizeof(struct sfb_live) <= SFB_LIVE_PAGE, "a page");

struct sfb_live_stack {
    uint64_t hash;
    uint16_t cbf_size;
    uint16_t list;     /* of modules: its number % 65536 */
    uint32_t overruns; /* blocks of it whose tail was overwritten, found when they were freed */
    /* CBF, up to the next unit */
};

/* --- slots ---------------------------------------------------------------------------------------- */

#define SFB_LIVE_BLOCK_BITS 48
#define SFB_LIVE_BLOCK_MASK (((uint64_t)1 << SFB_LIVE_BLOCK_BITS) - 1)
#define SFB_LIVE_SIZE_BITS  36
#define SFB_LIVE_SIZE_MASK                                                                         \
    (((uint64_t)1 << SFB_LIVE_SIZE_BITS) - 1) /* what is larger counts as so large */
#define SFB_LIVE_STACK_MAX ((uint32_t)1 << 26)

static inline bool sfb_live_is_block(uint64_t block)
{
    return block != 0 && (block & 1) == 0;
}

static inline uint64_t sfb_live_address(uint64_t block)
{
    return block & SFB_LIVE_BLOCK_MASK;
}

static inline uint64_t sfb_live_what(uint32_t stack, uint32_t level, uint64_t size)
{
    return (uint64_t)stack << 38 | (uint64_t)level << SFB_LIVE_SIZE_BITS |
           (size < SFB_LIVE_SIZE_MASK ? size : SFB_LIVE_SIZE_MASK);
}

static inline uint32_t sfb_live_stack_of(uint64_t what)
{
    return (uint32_t)(what >> 38);
}

static inline uint32_t sfb_live_level_of(uint64_t what)
{
    return (uint32_t)(what >> SFB_LIVE_SIZE_BITS) & 3;
}

static inline uint64_t sfb_live_size_of(uint64_t what)
{
    return what & SFB_LIVE_SIZE_MASK;
}

/*
 * Slack: how far the tail is behind the end of what was asked for, so that who looks from outside finds it. In bytes;
 * if it is large, and the usable size one of whole pages, in pages.
 */
enum { SFB_LIVE_SLACK_PAGES = 0x8000, SFB_LIVE_SLACK_UNKNOWN = 0xffff };

static inline uint64_t sfb_live_pages_up(uint64_t size)
{
    return (size + SFB_LIVE_PAGE - 1) & ~(uint64_t)(SFB_LIVE_PAGE - 1);
}

static inline uint32_t sfb_live_slack(uint64_t size, uint64_t usable)
{
    uint64_t slack = usable - SFB_LIVE_TAIL - size, pages;

    if (slack < SFB_LIVE_SLACK_PAGES)
        return (uint32_t)slack;
    pages = (usable - sfb_live_pages_up(size + SFB_LIVE_TAIL)) / SFB_LIVE_PAGE;
    return usable % SFB_LIVE_PAGE == 0 && pages < SFB_LIVE_SLACK_UNKNOWN - SFB_LIVE_SLACK_PAGES
               ? SFB_LIVE_SLACK_PAGES | (uint32_t)pages
               : SFB_LIVE_SLACK_UNKNOWN;
}

/* Where the tail of a slot's block is. @return 0: nobody knows */
static inline uint64_t sfb_live_tail_at(uint64_t block, uint64_t what)
{
    const uint64_t size = sfb_live_size_of(what), at = sfb_live_address(block);
    const uint32_t slack = (uint32_t)(block >> SFB_LIVE_BLOCK_BITS);

    if (slack == SFB_LIVE_SLACK_UNKNOWN || size == SFB_LIVE_SIZE_MASK)
        return 0;
    if (slack < SFB_LIVE_SLACK_PAGES)
        return at + size + slack;
    return at + sfb_live_pages_up(size + SFB_LIVE_TAIL) +
           (uint64_t)(slack - SFB_LIVE_SLACK_PAGES) * SFB_LIVE_PAGE - SFB_LIVE_TAIL;
}

/* The tail of a block without a slot: no number of one, and no other block's. */
static inline uint32_t sfb_live_mark(uint64_t address)
{
    return (uint32_t)(address * UINT64_C(0x9e3779b97f4a7c15) >> 32) | UINT32_C(1) << 31;
}

/* --- stacks --------------------------------------------------------------------------------------- */

/* A bucket: 38 bits of the stack's hash, and its id. 0: empty. */
static inline uint64_t sfb_live_bucket(uint64_t hash, uint32_t id)
{
    return (hash & ~(uint64_t)(SFB_LIVE_STACK_MAX - 1)) | id;
}

static inline uint32_t sfb_live_stack_units(size_t cbf_size)
{
    return (uint32_t)((sizeof(struct sfb_live_stack) + cbf_size + SFB_LIVE_UNIT - 1) /
                      SFB_LIVE_UNIT);
}

#endif
