/*
 * Reading words of an address space that may be broken.
 *
 * A word inside the known range is a plain load; any other goes to the policy's function, which
 * probes, looks into a fake, or refuses.
 */
#ifndef SFB_UNWIND_MEMORY_H
#define SFB_UNWIND_MEMORY_H

#include <stdbool.h>
#include <stdint.h>

#include "sfb/walk.h"
#include "unwind/known_stack.h"

/* What the kernel protects at once, at least. */
#define SFB_PAGE_SIZE 4096u

static inline uint64_t sfb_page_of(uint64_t address)
{
    return address & ~(uint64_t)(SFB_PAGE_SIZE - 1);
}

/* The walk reads other functions' frames, where sanitizers see red zones and missing locks. */
#define SFB_NO_SANITIZE __attribute__((no_sanitize("address"), no_sanitize("thread")))

/*
 * What is done at load, before other code that may want a backtrace: programs' own constructors,
 * too, when this library is linked statically.
 */
#define SFB_EARLY __attribute__((constructor(101)))

SFB_NO_SANITIZE static inline uint64_t sfb_load(uint64_t address)
{
    return *(const volatile uint64_t *)(uintptr_t)address;
}

/* address must be a multiple of 8, so that a word never lies on two pages. */
static inline bool sfb_memory_read(struct sfb_memory *memory, uint64_t address, uint64_t *out)
{
    if (address - memory->lo < memory->hi - memory->lo) {
        *out = sfb_load(address);
        return true;
    }
    return memory->read && memory->read(memory, address, out);
}

/* Reads bytes at any alignment, word by word. */
bool sfb_memory_copy(struct sfb_memory *memory, uint64_t address, void *out, uint64_t size);

/*
 * The memory of this process, for a walk that begins at sp.
 *
 * @param running  the calling code runs on that very stack, near sp, so the page of sp is mapped.
 *                 Else (a context) not even that is believed.
 */
static inline void sfb_memory_live(struct sfb_memory *out, uint64_t sp, bool running);

/* The same where sp is not on what is known of this thread's stack. It may begin a trail. */
void sfb_memory_live_elsewhere(struct sfb_memory *out, uint64_t sp, bool running);

/* The same where somebody says that these bytes are there. */
void sfb_memory_vouched(struct sfb_memory *out, uint64_t address, uint64_t size);

/* The memory of this process, with nothing known of it but the thread's own stack. */
void sfb_memory_probed(struct sfb_memory *out);

/* The memory of this process, with nothing known at all. */
void sfb_memory_doubted(struct sfb_memory *out);

/* sfb_memory.read of the latter: each page is probed. */
bool sfb_memory_read_doubted(struct sfb_memory *memory, uint64_t address, uint64_t *out);

/* sfb_memory.read of the others. */
bool sfb_memory_read_probed(struct sfb_memory *memory, uint64_t address, uint64_t *out);

/* @return whether the page of an address can be read; a system call (and hardly any stack) */
bool sfb_memory_probe_page(uint64_t address);

/* @return whether all pages of [address, address + size) can be read; a system call a page */
bool sfb_memory_probe(uint64_t address, uint64_t size);

/*
 * @return the bytes from address on that can be read, at most size. Of one mapping of a file, whose
 *         readable part ends where the file does: a system call, and a few where it ends too early.
 */
static inline uint64_t sfb_memory_readable(uint64_t address, uint64_t size);

/* The same where the last of them cannot. */
uint64_t sfb_memory_readable_part(uint64_t address, uint64_t size);

static inline uint64_t sfb_memory_readable(uint64_t address, uint64_t size)
{
    if (size == 0 || sfb_memory_probe_page(address + (size - 1)))
        return size;
    return sfb_memory_readable_part(address, size);
}

static inline void sfb_memory_live(struct sfb_memory *out, uint64_t sp, bool running)
{
    uint64_t lo = sfb_known_stack.lo, hi = sfb_known_stack.gap_lo;

    if (__builtin_expect(sp >= lo && sp < hi, 1))
        *out = (struct sfb_memory){ .lo = lo, .hi = hi, .read = sfb_memory_read_probed };
    else
        sfb_memory_live_elsewhere(out, sp, running);
}

#endif
