/*
 * The probe is rt_sigprocmask() with an invalid `how`. The kernel reads the new mask first: EFAULT if
 * it cannot, EINVAL if it can. The mask is never set. Other libraries' ways were dropped: a pipe or
 * /dev/null opens descriptors; process_vm_readv() is forbidden in containers; msync() and mincore()
 * do not see PROT_NONE; the SIGSEGV handler belongs to the program. memcheck would report the probe
 * as a bug of the program, so under memcheck its own request is used.
 *
 * Another thread may unmap a page between the probe and the load. Only a SIGSEGV handler could
 * prevent that. It is the only race left here.
 */
#include "unwind/process/pages.h"

#include <errno.h>

#include "unwind/machine/native.h"

/* --- Valgrind's memcheck -----------------------------------------------------------------------
 *
 * Its client requests are part of its documented interface: <valgrind/memcheck.h>.
 */

#define MEMCHECK_GET_VBITS (((uint64_t)'M' << 24 | (uint64_t)'C' << 16) + 8)

enum { GET_VBITS_DONE = 1 }; /* 0: memcheck does not run; else: not addressable */

/* Asked once. */
static enum { UNKNOWN, ABSENT, PRESENT } memcheck;

static uint64_t ask_memcheck(uint64_t word)
{
    uint64_t bits;
    const uint64_t request[6] = { MEMCHECK_GET_VBITS, word, (uintptr_t)&bits, sizeof bits };

    return sfb_arch_valgrind(request);
}

static __attribute__((noinline)) bool is_addressable(uint64_t address)
{
    return ask_memcheck(address & ~(uint64_t)7) == GET_VBITS_DONE;
}

static __attribute__((noinline)) bool has_memcheck(void)
{
    uint64_t word = 0;

    memcheck = ask_memcheck((uintptr_t)&word) == GET_VBITS_DONE ? PRESENT : ABSENT;
    return memcheck == PRESENT;
}

/* --- Pages -------------------------------------------------------------------------------------
 */

bool sfb_page_probe(uint64_t address)
{
    if (__builtin_expect(memcheck != ABSENT, 0) && has_memcheck())
        return is_addressable(address);
    /* A filter's error (EPERM, ENOSYS) counts as unreadable: the walk then ends early. */
    return sfb_arch_sigprocmask(~(uint64_t)0, sfb_page_of(address)) == -EINVAL;
}

bool sfb_pages_probe(uint64_t address, uint64_t size)
{
    uint64_t at = address;

    if (size == 0)
        return true;
    if (address + (size - 1) < address)
        return false;
    for (uint64_t last = sfb_page_of(address + (size - 1));; at = sfb_page_of(at) + SFB_PAGE_SIZE) {
        if (!sfb_page_probe(at))
            return false;
        if (sfb_page_of(at) == last)
            return true;
    }
}

__attribute__((noinline)) uint64_t sfb_pages_readable_part(uint64_t address, uint64_t size)
{
    /* Pages up to `good` are readable, pages from `bad` on are not. */
    uint64_t good = sfb_page_of(address) - SFB_PAGE_SIZE, bad = sfb_page_of(address + (size - 1));

    if (address + (size - 1) < address)
        return 0;
    while (bad - good > SFB_PAGE_SIZE) {
        uint64_t middle = sfb_page_of(good + (bad - good) / 2);

        if (sfb_page_probe(middle))
            good = middle;
        else
            bad = middle;
    }
    return bad > address ? bad - address : 0;
}
