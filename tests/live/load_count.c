/*
 * The count of loads and unloads, in a process: each dlopen() and each dlclose() makes another one, whatever thread and
 * whatever part of libc it comes from, and it is not known while the loader is at work, or while it has several namespaces.
 */
#include <dlfcn.h>
#include <link.h>
#include <pthread.h>
#include <stdatomic.h>
#include <stdio.h>

#include "sframe_backtrace.h"
#include "support/compiler.h"
#include "support/test.h"
#include "unwind/process/loader_state.h"

#define LIBRARY SFB_TEST_LIBS "/libframes-64.so"

typedef int call_back_fn(int (*)(void));

static int note(struct dl_phdr_info *info, size_t size, void *user)
{
    (void)size;
    *(uint64_t *)user = info->dlpi_adds + info->dlpi_subs;
    return 1;
}

static uint64_t count_of_loader(void)
{
    uint64_t count = 0;

    dl_iterate_phdr(note, &count);
    return count;
}

static void *frames[64];
static uint64_t count_inside;

static int capture(void)
{
    count_inside = sfb_load_count();
    return sframe_backtrace(frames, 64);
}

static void *open_and_walk(void)
{
    void *library = dlopen(LIBRARY, RTLD_NOW | RTLD_LOCAL);
    call_back_fn *call_back;

    cr_assert(library != NULL, "%s", dlerror());
    *(void **)&call_back = dlsym(library, "call_back");
    call_back(capture);
    return library;
}

/* A walk through a library that was loaded since is the proof, if the load of libunwind was none. */
static void prove(void)
{
    cr_assert(eq(int, dlclose(open_and_walk()), 0));
    cr_assert(eq(int, dlclose(open_and_walk()), 0));
}

Test(load_count, is_that_of_dl_iterate_phdr_through_loads_and_unloads)
{
    uint64_t last = 0;

    prove();
    for (unsigned i = 0; i < 100; i++) {
        void *library;

        cr_assert(eq(u64, sfb_load_count(), count_of_loader()), "%u", i);
        cr_assert(lt(u64, last, sfb_load_count()), "%u", i);
        library = open_and_walk();
        cr_assert(eq(u64, count_inside, count_of_loader()), "%u", i);
        last = sfb_load_count();
        cr_assert(eq(u64, last, count_of_loader()), "%u", i);
        /* Counted already, and still there. */
        cr_assert(eq(int, dlclose(dlopen(LIBRARY, RTLD_NOW)), 0));
        cr_assert(eq(u64, sfb_load_count(), last), "%u", i);
        cr_assert(eq(int, dlclose(library), 0));
    }
}

Test(load_count, of_a_load_that_fails_is_another_one)
{
    uint64_t count;

    prove();
    count = sfb_load_count();
    cr_assert(ne(u64, count, 0));
    cr_assert(eq(ptr, dlopen(SFB_TEST_LIBS "/libframes-none.so", RTLD_NOW), NULL));
    cr_assert(eq(u64, sfb_load_count(), count_of_loader()));
}

static atomic_bool done;

static void *come_and_go(void *argument)
{
    enum { ROUNDS = 3000 };

    for (unsigned i = 0; i < ROUNDS; i++)
        dlclose(dlopen(LIBRARY, RTLD_NOW | RTLD_LOCAL));
    atomic_store(&done, true);
    return argument;
}

/* A count that is seen twice is of one state: what was loaded between is still loaded. */
Test(load_count, never_comes_again_beside_another_thread)
{
    uint64_t first, last, known = 0, changes = 0;
    pthread_t thread;

    prove();
    first = last = sfb_load_count();
    cr_assert(ne(u64, first, 0));
    cr_assert(eq(int, pthread_create(&thread, NULL, come_and_go, NULL), 0));
    while (!atomic_load(&done)) {
        uint64_t count = sfb_load_count();

        if (count == 0)
            continue;
        known++;
        cr_assert(le(u64, last, count), "it goes up only");
        changes += count != last;
        last = count;
    }
    pthread_join(thread, NULL);
    cr_expect(eq(u64, sfb_load_count(), count_of_loader()));
    cr_expect(lt(u64, first, sfb_load_count()));
    fprintf(stderr, "load_count: known in %llu reads, %llu changes\n", (unsigned long long)known,
            (unsigned long long)changes);
}

Test(load_count, is_not_known_where_there_are_namespaces)
{
    uint64_t before;
    void *library;

    prove();
    before = sfb_load_count();
    cr_assert(ne(u64, before, 0));
    library = dlmopen(LM_ID_NEWLM, LIBRARY, RTLD_NOW);
    cr_assert(library != NULL, "%s", dlerror());
    cr_expect(eq(u64, sfb_load_count(), 0));
    frames[2] = NULL;
    open_and_walk();
    cr_expect(ne(ptr, frames[2], NULL), "walks go on");
    dlclose(library);
    cr_expect(lt(u64, before, sfb_load_count()), "one again, and another count");
}
