/*
 * Libraries that come and go. Nobody tells this library of dlopen() and dlclose(), and no walk may
 * use the tables of a library that is not there any more.
 */
#include <dlfcn.h>
#include <stdio.h>
#include <string.h>

#define UNW_LOCAL_ONLY
#include <libunwind.h>

#include "oracles/linked.h"
#include "support/compiler.h"
#include "support/test.h"
#include "unwind/process/loader.h"
#include "unwind/process/module_cache.h"

static struct trace ours, theirs;
static struct sframe_backtrace_info info;
static volatile int sink;

static int capture(void)
{
    uint8_t buffer[1024];
    ssize_t size;

    info.size = sizeof info;
    size = sframe_backtrace_cbf(buffer, sizeof buffer, NULL, &info);
    trace_decode(&ours, buffer, size);
    linked_libunwind_walk(&theirs, NULL);
    return sink++;
}

typedef int call_back_fn(int (*)(void));

/* @return a library, to be closed */
static void *open_library(const char *name, call_back_fn **call_back)
{
    char path[512];
    void *library, *function;

    snprintf(path, sizeof path, "%s/libframes-%s.so", SFB_TEST_LIBS, name);
    library = dlopen(path, RTLD_NOW | RTLD_LOCAL);
    cr_assert(library != NULL, "%s", dlerror());
    function = dlsym(library, "call_back");
    cr_assert(function != NULL);
    *(void **)call_back = function;
    return library;
}

/* @return where the library was loaded */
static uint64_t load_and_walk(const char *name, bool with_sframe)
{
    call_back_fn *call_back;
    void *library = open_library(name, &call_back);
    Dl_info where = { 0 };

    dladdr(*(void **)&call_back, &where);

    call_back(capture);
    if (trace_differs(&ours, 1, &theirs, 1) != SIZE_MAX || !ours.end)
        trace_print(name, &ours, &theirs);
    cr_expect(eq(sz, trace_differs(&ours, 1, &theirs, 1), SIZE_MAX), "%s", name);
    cr_expect(ours.end, "%s", name);
    /* The second frame is in the library. */
    cr_expect(lt(u64, (uintptr_t)where.dli_saddr, ours.address[1]), "%s", name);
    cr_expect(lt(u64, ours.address[1], (uintptr_t)where.dli_saddr + 200), "%s", name);
    if (!with_sframe)
        cr_expect(lt(u32, 0, info.by_source[SFB_SOURCE_EH_FRAME]), "%s", name);
    dlclose(library);
    return (uintptr_t)where.dli_fbase;
}

Test(modules, loaded_after_start_are_found_by_the_capture_itself)
{
    uint32_t by_eh_frame;

    load_and_walk("64", true);
    by_eh_frame = info.by_source[SFB_SOURCE_EH_FRAME];
    load_and_walk("bare", false);
    cr_expect(eq(u32, info.by_source[SFB_SOURCE_EH_FRAME], by_eh_frame + 1),
              "the library with .sframe took one frame less from .eh_frame");
}

Test(modules, with_a_writable_eh_frame_are_walked_by_it)
{
    uint32_t by_eh_frame;

    load_and_walk("bare", false);
    by_eh_frame = info.by_source[SFB_SOURCE_EH_FRAME];
    load_and_walk("split", false);
    cr_expect(eq(u32, info.by_source[SFB_SOURCE_EH_FRAME], by_eh_frame));
}

Test(modules, replaced_at_the_same_address_are_noticed)
{
    static const struct {
        const char *name;
        bool with_sframe;
    } libraries[] = {
        { "64", true },
        { "96", true }, /* alike to the byte, but for the frame's size */
        { "5000", true },
        { "bare", false },
    };
    enum { COUNT = sizeof libraries / sizeof *libraries };
    unsigned same_address = 0, loads = 0;
    uint64_t last = 0;

    for (unsigned i = 0; i < 64; i++) {
        unsigned n = (i * 7 + i / COUNT) % COUNT;
        uint64_t base = load_and_walk(libraries[n].name, libraries[n].with_sframe);

        same_address += base == last;
        last = base;
        loads++;
        if (i % 5 == 0)
            sframe_backtrace_refresh();
    }
    fprintf(stderr, "modules: %u of %u libraries were loaded where another had been\n",
            same_address, loads);
    cr_expect(lt(u32, loads / 4, same_address), "the test means something");
}

Test(modules, more_than_the_cache_holds_still_walk)
{
    for (unsigned i = 0; i < 700; i++)
        load_and_walk(i % 2 ? "64" : "bare", i % 2);
}

/* --- What a cache does that takes an address for a function
 * ----------------------------------------
 */

static uint64_t memo[SFRAME_BACKTRACE_MEMO_SIZE(100) / 8];
static void *ours_by_cache[64], *ours_by_memo[64], *theirs_by_cache[64];
static int ours_count, memo_count, theirs_count;

static int capture_cached(void)
{
    struct sframe_backtrace_options options = { .size = sizeof options,
                                                .memo = memo,
                                                .memo_size = sizeof memo };

    ours_count = sframe_backtrace(ours_by_cache, 64);
    memo_count = (int)sframe_backtrace_addresses(ours_by_memo, 64, &options, NULL);
    theirs_count = unw_backtrace(theirs_by_cache, 64);
    linked_libunwind_walk(&theirs, NULL);
    return sink++;
}

/* Without the first frame, which is another call in each. */
static bool same_as_oracle(void *const *addresses, int count)
{
    if (count < 0 || (size_t)count != theirs.count)
        return false;
    for (size_t i = 1; i < theirs.count; i++)
        if ((uintptr_t)addresses[i] != theirs.address[i])
            return false;
    return true;
}

/*
 * Two libraries that differ in a frame's size alone, in turn and at one address. libunwind's trace
 * cache goes by the pc and is never told (seen with 1.6.2); its unw_step() looks anew, and is the
 * oracle.
 */
Test(modules, replaced_ones_are_no_trap_for_the_caches)
{
    enum { ROUNDS = 40 };
    unsigned ours_wrong = 0, memo_wrong = 0, theirs_wrong = 0, same_address = 0;
    uint64_t last = 0;

    for (unsigned i = 0; i < ROUNDS; i++) {
        call_back_fn *call_back;
        void *library = open_library(i % 2 ? "64" : "96", &call_back);

        same_address += (uintptr_t)call_back == last;
        last = (uintptr_t)call_back;
        /* Twice: what the second finds in a cache, the first has put there. */
        for (unsigned again = 0; again < 2; again++) {
            call_back(capture_cached);
            ours_wrong += !same_as_oracle(ours_by_cache, ours_count);
            memo_wrong += !same_as_oracle(ours_by_memo, memo_count);
            theirs_wrong += !same_as_oracle(theirs_by_cache, theirs_count);
        }
        dlclose(library);
    }
    fprintf(stderr,
            "modules: %u of %d libraries where another had been; of %d walks wrong: %u by the rule "
            "cache, %u with a memo, %u by libunwind's unw_backtrace()\n",
            same_address, ROUNDS, 2 * ROUNDS, ours_wrong, memo_wrong, theirs_wrong);
    cr_expect(lt(u32, ROUNDS / 2, same_address), "the test means something");
    cr_expect(eq(u32, ours_wrong, 0));
    cr_expect(eq(u32, memo_wrong, 0));
}

static int capture_with_memo(void)
{
    struct sframe_backtrace_options options = { .size = sizeof options,
                                                .memo = memo,
                                                .memo_size = sizeof memo };

    memo_count = (int)sframe_backtrace_addresses(ours_by_memo, 64, &options, NULL);
    return sink++;
}

/* Frames further in are the same each time: fp is this one's, not what its caller has there. */
NOINLINE static void call_from_here(call_back_fn *call_back)
{
    volatile char *space = __builtin_alloca((size_t)(sink & 0) + 64);

    space[0] = (char)call_back(capture_with_memo);
}

/* That nothing comes behind a frame is said by its library, like all else. */
Test(modules, replaced_ones_are_not_believed_to_be_outermost)
{
    enum { ROUNDS = 20 };
    unsigned wrong = 0, same_address = 0;
    uint64_t last = 0;

    for (unsigned i = 0; i < ROUNDS; i++) {
        call_back_fn *call_back;
        void *library = open_library(i % 2 ? "bare" : "last", &call_back);

        same_address += (uintptr_t)call_back == last;
        last = (uintptr_t)call_back;
        for (unsigned again = 0; again < 3; again++) {
            call_from_here(call_back);
            wrong += (memo_count > 2) != (i % 2);
        }
        dlclose(library);
    }
    cr_expect(lt(u32, ROUNDS / 2, same_address), "the test means something");
    cr_expect(eq(u32, wrong, 0));
}

/* --- What cannot be unloaded -------------------------------------------------------------------
 */

static uint16_t id_of(const void *code)
{
    const struct sfb_modules *modules = sfb_modules_live(false);
    struct sfb_module room;
    const struct sfb_module *m = modules->find(modules, (uintptr_t)code, &room);

    return m ? m->id : 0;
}

static bool stays(const void *code)
{
    return (id_of(code) & SFB_MODULE_PERMANENT) != 0;
}

/* By DT_NEEDED, from the program on: not what it opened, though that is linked with the same
 * libraries. */
Test(modules, that_stay_are_those_the_program_was_started_with)
{
    call_back_fn *call_back;
    void *library = open_library("64", &call_back);

    sframe_backtrace_refresh();

    cr_expect(stays(__builtin_return_address(0)), "criterion, which called this");
    cr_expect(stays(dlsym(RTLD_DEFAULT, "qsort")), "libc");
    cr_expect(stays(dlsym(RTLD_DEFAULT, "unw_backtrace")), "libunwind");
    cr_expect(ne(u32, id_of(*(void **)&call_back), 0));
    cr_expect(not(stays(*(void **)&call_back)), "what was opened");
    dlclose(library);
}
