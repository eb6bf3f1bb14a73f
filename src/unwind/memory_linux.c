/*
 * What of this process's memory may be read.
 *
 * Two things are known for free. The stack of the main thread ends where the kernel put the
 * program's name, at the very top, and is one mapping from there down to the stack pointer. And the
 * page that the calling code's stack pointer is on is there. Everything else is probed, a page at a
 * time, and what was learnt is kept for the rest of the walk: about 120 ns for each 4 KiB of stack.
 *
 * The probe is rt_sigprocmask() with an invalid `how`: the kernel reads the new mask first, and
 * says EFAULT if it cannot, EINVAL if it can; the mask is never set. Tried and dropped elsewhere
 * (research on peers): a pipe or /dev/null opens descriptors; process_vm_readv() is forbidden in
 * containers; msync() and mincore() do not see PROT_NONE; a SIGSEGV handler of one's own belongs to
 * the program.
 */
#include "unwind/memory.h"

#include <errno.h>
#include <sys/auxv.h>
#include <sys/resource.h>

#include "unwind/arch.h"

#define PAGE 4096u

/* Set once at load, before other threads exist; a walk before that probes. */
static uint64_t main_stack_lo, main_stack_hi;

/*
 * The kernel maps nothing else within 128 MiB below the top of the main stack, whatever the limit
 * says, so an address this near is on the stack, or in the gap below it.
 */
#define MAIN_STACK_MAX (128u << 20)

SFB_EARLY static void find_main_stack(void)
{
    uint64_t name = getauxval(AT_EXECFN);
    struct rlimit limit;
    uint64_t size = MAIN_STACK_MAX;

    if (name == 0)
        return;
    if (getrlimit(RLIMIT_STACK, &limit) == 0 && limit.rlim_cur < size)
        size = limit.rlim_cur;
    main_stack_hi = (name | (PAGE - 1)) + 1;
    main_stack_lo = main_stack_hi > size ? main_stack_hi - size : 0;
}

static bool page_readable(uint64_t address)
{
    /* Whatever a filter makes of the call (EPERM, ENOSYS) is a no: the walk then ends early. */
    return sfb_arch_sigprocmask(~(uint64_t)0, address & ~(uint64_t)(PAGE - 1)) == -EINVAL;
}

bool sfb_memory_probe(uint64_t address, uint64_t size)
{
    uint64_t page = address & ~(uint64_t)(PAGE - 1);

    if (size == 0)
        return true;
    if (address + (size - 1) < address)
        return false;
    for (uint64_t last = (address + (size - 1)) & ~(uint64_t)(PAGE - 1);; page += PAGE) {
        if (!page_readable(page))
            return false;
        if (page == last)
            return true;
    }
}

/*
 * One page of the main stack is there, so all of it is from there to its top: it is one mapping,
 * unless the program itself punches holes into it.
 */
static uint64_t known_end(uint64_t page)
{
    return page >= main_stack_lo && page < main_stack_hi ? main_stack_hi : page + PAGE;
}

static bool read_probed(struct sfb_memory *memory, uint64_t address, uint64_t *out)
{
    uint64_t page = address & ~(uint64_t)(PAGE - 1);

    if (!page_readable(page))
        return false;
    if (page == memory->hi && memory->hi > memory->lo) {
        memory->hi = page + PAGE;
    } else if (page + PAGE == memory->lo && memory->hi > memory->lo) {
        memory->lo = page;
    } else {
        memory->lo = page;
        memory->hi = known_end(page);
    }
    *out = sfb_load(address);
    return true;
}

void sfb_memory_probed(struct sfb_memory *out)
{
    *out = (struct sfb_memory){ .read = read_probed };
}

void sfb_memory_live(struct sfb_memory *out, uint64_t sp, bool running)
{
    sfb_memory_probed(out);
    /* A context's sp may be below the stack: after an overflow it is. */
    if (!running && !page_readable(sp))
        return;
    out->lo = sp & ~(uint64_t)(PAGE - 1);
    out->hi = known_end(out->lo);
}
