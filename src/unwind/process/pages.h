/*
 * What the kernel says of this process's pages: a system call a page, which sets nothing and opens
 * nothing. How is said in pages.c.
 */
#ifndef SFB_UNWIND_PROCESS_PAGES_H
#define SFB_UNWIND_PROCESS_PAGES_H

#include <stdbool.h>
#include <stdint.h>

/* What the kernel protects at once, at least. */
#define SFB_PAGE_SIZE 4096u

static inline uint64_t sfb_page_of(uint64_t address)
{
    return address & ~(uint64_t)(SFB_PAGE_SIZE - 1);
}

/* @return whether the page of an address can be read; a system call (and hardly any stack) */
bool sfb_page_probe(uint64_t address);

/* @return whether all pages of [address, address + size) can be read; a system call a page */
bool sfb_pages_probe(uint64_t address, uint64_t size);

/*
 * @return the bytes from address on that can be read, at most size. Of one mapping of a file, whose
 *         readable part ends where the file does: a system call, and a few where it ends too early.
 */
static inline uint64_t sfb_pages_readable(uint64_t address, uint64_t size);

/* The same where the last of them cannot. */
uint64_t sfb_pages_readable_part(uint64_t address, uint64_t size);

static inline uint64_t sfb_pages_readable(uint64_t address, uint64_t size)
{
    if (size == 0 || sfb_page_probe(address + (size - 1)))
        return size;
    return sfb_pages_readable_part(address, size);
}

#endif
