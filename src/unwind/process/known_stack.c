/*
 * The known stack begins as the top of the stack, which stays mapped as long as the thread lives. In
 * the main thread the kernel puts the program's arguments there. In other threads it is the TLS block:
 * C libraries put it on top of the thread's stack, in one mapping.
 *
 * From there it grows with the walks. A walk that begins further down may be on another stack: a
 * coroutine's, or an alternate one. If its frames lead page by page to the known stack, all of these
 * pages are the thread's own stack. They stay mapped while the frames live. Readable memory between
 * the two would prove less: coroutine stacks may lie right below the thread's stack, with one between
 * that is unmapped later.
 *
 * A page without words of a frame is learnt in small frames only. A large array may hold anything: a
 * coroutine's stack, a guard page.
 *
 * The known stack is only used above a stack pointer. So pages below may be protected again, as some
 * virtual machines do.
 */
#include "unwind/process/known_stack.h"

#include <link.h>
#include <stddef.h>
#include <sys/auxv.h>
#include <sys/resource.h>
#include <sys/syscall.h>

#include "base/early.h"
#include "unwind/machine/native.h"
#include "unwind/process/pages.h"

#define PAGE 4096u

/*
 * The kernel itself maps nothing else within 128 MiB below the top of the main stack. So an address
 * this near may be on the stack.
 */
#define MAIN_STACK_MAX (128u << 20)

/* Stack further than this from the thread pointer is never learnt: each walk probes it. */
#define THREAD_STACK_MAX (64u << 20)

/* Pages that a frame up to this size passes over are learnt too: they are probed once. */
#define SMALL_GAP ((uint64_t)4 * PAGE)

/* A stack with a larger frame than this is not learnt. */
#define LARGE_GAP ((uint64_t)1 << 20)

/* The library's constructor runs within this distance of the arguments; else the main stack is not known. */
#define START_MAX ((uint64_t)16 * PAGE)

/* A trail goes on until it reaches the known stack, however far. On stacks that never reach it, trails become rarer. */
enum { REST_WALKS = 64, LOST_MAX = 5 };

_Thread_local struct sfb_known_stack sfb_known_stack
    __attribute__((tls_model("initial-exec"), visibility("hidden")));

bool sfb_process_is_set_up;

/* Set once at load; before that nothing is known. */
static uint64_t main_lo, main_hi, main_start, main_thread_pointer, static_tls_size;

static uint64_t page_of(uint64_t address)
{
    return address & ~(uint64_t)(PAGE - 1);
}

static uint64_t thread_pointer(void)
{
    return sfb_arch_thread_pointer() & ~(uint64_t)7;
}

/* --- At load -----------------------------------------------------------------------------------
 */

/* An estimate: without the loader's surplus and without modules of dlopen(). */
static int add_tls(struct dl_phdr_info *info, size_t size, void *user)
{
    uint64_t *sum = user;

    (void)size;
    if (!sfb_pages_probe((uintptr_t)info->dlpi_phdr, info->dlpi_phnum * sizeof *info->dlpi_phdr))
        return 0;
    for (unsigned i = 0; i < info->dlpi_phnum; i++)
        if (info->dlpi_phdr[i].p_type == PT_TLS)
            *sum += info->dlpi_phdr[i].p_memsz;
    return 0;
}

/* C libraries give constructors main()'s arguments: argv is right above the start of the stack. */
SFB_EARLY static void find_main_stack(int argc, char **argv, char **envp)
{
    uint64_t name = getauxval(AT_EXECFN), here = page_of((uintptr_t)__builtin_frame_address(0));
    uint64_t size = MAIN_STACK_MAX;
    struct rlimit limit;

    (void)argc;
    (void)envp;
    dl_iterate_phdr(add_tls, &static_tls_size);
    sfb_process_is_set_up = true;
    if (name == 0)
        return;
    if (getrlimit(RLIMIT_STACK, &limit) == 0 && limit.rlim_cur < size)
        size = limit.rlim_cur;
    main_hi = page_of(name) + PAGE;
    main_lo = main_hi > size ? main_hi - size : 0;
    main_start = page_of((uintptr_t)argv);
    if (main_start < main_lo || main_start >= main_hi)
        main_start = main_hi - PAGE; /* the last page has the program's name */
    /* Another thread may have loaded this library. */
    if (here >= main_lo && here < main_hi) {
        main_thread_pointer = thread_pointer();
        if (here < main_start && main_start - here <= START_MAX &&
            sfb_pages_probe(here, main_start - here))
            main_start = here;
    }
}

bool sfb_thread_is_set_up(void)
{
    return sfb_process_is_set_up || sfb_arch_has_thread_pointer();
}

/* --- What is known -----------------------------------------------------------------------------
 */

/* In this order: a signal handler in between sees no range, or the whole range. */
static void set_known(uint64_t lo, uint64_t hi)
{
    sfb_known_stack.lo = lo;
    sfb_known_stack.gap_hi = hi;
    sfb_known_stack.hi = hi;
    sfb_known_stack.gap_lo = hi;
}

/* The top of a thread's stack: the thread pointer's page, and the TLS block if it is below. */
static void set_top(uint64_t thread)
{
    uint64_t own = (uintptr_t)&sfb_known_stack, lo = page_of(thread);

    if (own < thread)
        lo = page_of(thread - own > static_tls_size ? own : thread - static_tls_size);
    set_known(lo, thread);
}

/* Extends the known stack down to `from`. Without a gap gap_lo == gap_hi. */
static void learn(uint64_t from, uint64_t gap_lo, uint64_t gap_hi)
{
    struct sfb_known_stack *known = &sfb_known_stack;

    /* In this order: a signal handler in between sees a smaller range, never a wrong one. */
    if (gap_lo < gap_hi) {
        known->gap_lo = gap_lo;
        known->gap_hi = gap_hi;
    }
    known->lo = from;
    known->lost = 0;
}

/* --- Trails ------------------------------------------------------------------------------------
 */

#define GAP_MAX (PAGE - 1) /* pages between a trail's start and its gap */

static uint64_t trail_of(const struct sfb_memory *memory)
{
    return (uintptr_t)memory->user;
}

static void set_trail(struct sfb_memory *memory, uint64_t trail)
{
    memory->user = (void *)(uintptr_t)trail; /* NOLINT(performance-no-int-to-ptr) */
}

static uint64_t start_of(uint64_t trail)
{
    return page_of(trail);
}

static uint64_t gap_of(uint64_t trail)
{
    return start_of(trail) + (trail & GAP_MAX) * PAGE;
}

static bool has_gap(uint64_t trail)
{
    return (trail & GAP_MAX) != 0;
}

void sfb_stack_trail_begin(struct sfb_memory *memory, uint64_t sp)
{
    struct sfb_known_stack *known = &sfb_known_stack;
    uint64_t thread = thread_pointer();
    bool is_main = thread == main_thread_pointer;

    memory->user = NULL;
    if (main_thread_pointer == 0)
        return;
    if (known->hi == 0) {
        if (is_main)
            set_known(main_start, main_hi);
        else
            set_top(thread);
    }
    if (known->rest > 0)
        known->rest--;
    else if (sp < known->lo &&
             (is_main ? sp >= main_lo && sp < main_hi : thread - sp < THREAD_STACK_MAX))
        set_trail(memory, page_of(sp));
}

/* Tells whether the trail goes on without a gap from a range that ends at hi to a page behind it. */
static bool goes_on(uint64_t *trail, uint64_t hi, uint64_t page)
{
    uint64_t pages = (hi - start_of(*trail)) / PAGE;

    if (page == hi || (page > hi && page - hi <= SMALL_GAP && sfb_pages_probe(hi, page - hi)))
        return true;
    if (page < hi || page - hi > LARGE_GAP)
        *trail = 0;
    else if (pages > GAP_MAX || has_gap(*trail))
        *trail =
            hi - PAGE + 1; /* only one gap is kept, the outer one: pages further in are dropped */
    else
        *trail = start_of(*trail) + pages;
    return false;
}

/* The walk has reached the known stack from [lo, hi): learns the trail. */
static void arrive(uint64_t trail, uint64_t lo, uint64_t hi)
{
    const struct sfb_known_stack *known = &sfb_known_stack;

    if (!goes_on(&trail, hi, known->lo))
        lo = known->lo;
    if (trail == 0)
        return;
    if (!has_gap(trail))
        learn(start_of(trail), 0, 0);
    else if (known->gap_lo == known->hi)
        learn(start_of(trail), gap_of(trail), lo);
    else if (lo < known->lo)
        learn(lo, 0, 0);
}

/* Within a page: the bytes between a thread's first frame and its TLS block are no frame's words. */
static bool is_next_to_known(uint64_t hi)
{
    uint64_t at = sfb_known_stack.lo;

    return at == hi || (at == hi + PAGE && sfb_page_probe(hi));
}

void sfb_stack_trail_follow(struct sfb_memory *memory, uint64_t hi)
{
    uint64_t trail = trail_of(memory), last = memory->hi - 8;

    if (sfb_known_stack_has(last)) {
        /* A step over all of the known stack further in: not a stack. */
        if (last < sfb_known_stack.gap_lo)
            arrive(trail, hi - PAGE, hi);
        trail = 0;
    } else {
        if (memory->lo > hi && goes_on(&trail, hi, memory->lo) && !has_gap(trail))
            memory->lo = start_of(trail);
        if (trail != 0 && is_next_to_known(memory->hi)) {
            arrive(trail, memory->lo, sfb_known_stack.lo);
            trail = 0;
        }
    }
    set_trail(memory, trail);
    sfb_known_stack_range(last, &memory->lo, &memory->hi);
}

void sfb_stack_trail_end(struct sfb_memory *memory)
{
    struct sfb_known_stack *known = &sfb_known_stack;

    if (memory->user) {
        known->rest = ((uint32_t)REST_WALKS << known->lost) - 1;
        known->lost += known->lost < LOST_MAX;
    }
    memory->user = NULL;
}
