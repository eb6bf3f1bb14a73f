/*
 * Probes pages of this process: a system call a page, which sets nothing and opens nothing. See
 * pages.c.
 */
#ifndef SFB_UNWIND_PROCESS_PAGES_H
#define SFB_UNWIND_PROCESS_PAGES_H

#include <stdbool.h>
#include <stdint.h>

/* The kernel's unit of protection, at least. */
#define SFB_PAGE_SIZE 4096u

static inline uint64_t sfb_page_of(uint64_t address)
{
    return address & ~(uint64_t)(SFB_PAGE_SIZE - 1);
}

/* @return whether the page of an address is readable. A system call, and hardly any stack. */
bool sfb_page_probe(uint64_t address);

/* @return whether all pages of [address, address + size) are readable. A system call a page. */
bool sfb_pages_probe(uint64_t address, uint64_t size);

/*
 * For a mapping of a file: readable up to the end of the file.
 *
 * @return number of readable bytes from address on, at most size. A system call; a few if the file is
 *         too short.
 */
static inline uint64_t sfb_pages_readable(uint64_t address, uint64_t size);

/* The same if the last byte is not readable. */
uint64_t sfb_pages_readable_part(uint64_t address, uint64_t size);

static inline uint64_t sfb_pages_readable(uint64_t address, uint64_t size)
{
    if (size == 0 || sfb_page_probe(address + (size - 1)))
        return size;
    return sfb_pages_readable_part(address, size);
}

#endif
