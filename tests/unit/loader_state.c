/* What the loader counts: where it is found, and where it is not believed. The live part is in tests/live/load_count.c. */
#include <pthread.h>
#include <string.h>

#include "support/guarded.h"
#include "support/test.h"
#include "unwind/process/loader_state.h"

/* As glibc 2.36 to 2.43 have it, with fewer namespaces. */
struct image {
    const void *main;
    uint32_t loaded, pad;
    uint64_t others[20];
    uint64_t namespaces;
    pthread_mutex_t lock[3];
    uint64_t adds;
    uint64_t behind[4];
};

enum { ADDS = 7, LOADED = 5 };

static const char program;

static struct image good_image(void)
{
    static const pthread_mutex_t recursive = PTHREAD_RECURSIVE_MUTEX_INITIALIZER_NP;
    struct image image = {
        .main = &program, .loaded = LOADED, .namespaces = 1, .adds = ADDS, .behind = { ADDS, ADDS }
    };

    for (unsigned i = 0; i < 3; i++)
        image.lock[i] = recursive;
    image.lock[1].__data.__lock = 1; /* by dl_iterate_phdr() */
    image.others[3] = ADDS;
    return image;
}

static struct sfb_load_counters found;

static bool find(const void *image, size_t size)
{
    found = (struct sfb_load_counters){ 0 };
    return sfb_load_counters_find(&found, image, size, &program, ADDS, LOADED);
}

#define SAME(pointer, expected)                                                                    \
    cr_expect(eq(ptr, (void *)(uintptr_t)(pointer), (void *)(uintptr_t)(expected)))

Test(loader_state, counts_are_found_behind_the_locks)
{
    struct image image = good_image();

    /* Free, and taken, as in a constructor of what dlopen() loads. */
    for (int taken = 0; taken < 2; taken++) {
        image.lock[0].__data.__count = (unsigned)taken;
        image.lock[0].__data.__lock = taken;
        cr_expect(find(&image, sizeof image));
        SAME(&found.locks->adds, &image.adds);
        SAME(&found.head->loaded, &image.loaded);
    }
}

Test(loader_state, a_struct_that_is_not_as_expected_is_not_believed)
{
    for (unsigned i = 0; i < 9; i++) {
        struct image image = good_image();

        switch (i) {
        case 0: image.main = &image; break;
        case 1: image.loaded++; break;
        case 2: image.adds++; break;
        case 3: image.namespaces = 2; break;
        case 4: image.namespaces = 0; break;
        case 5: image.lock[1].__data.__lock = 0; break;
        default: image.lock[i - 6].__data.__kind = PTHREAD_MUTEX_NORMAL; break;
        }
        cr_expect(not(find(&image, sizeof image)), "%u", i);
    }
    cr_expect(
        not(sfb_load_counters_find(&found, &(struct image){ 0 }, sizeof(struct image), NULL, 0, 0)),
        "zeros");
}

Test(loader_state, two_places_are_no_place)
{
    struct image image[2] = { good_image(), good_image() };

    cr_expect(not(find(image, sizeof image)));
    image[1].lock[2].__data.__kind = PTHREAD_MUTEX_NORMAL;
    cr_expect(find(image, sizeof image));
    SAME(&found.locks->adds, &image[0].adds);
}

/* The copy ends at a page that is not mapped. */
Test(loader_state, nothing_is_read_behind_the_end)
{
    const struct image image = good_image();
    struct guarded g = guarded_new(sizeof image);

    for (size_t size = 0; size < sizeof image; size += sizeof(uint64_t)) {
        const uint8_t *copy = guarded_copy(&g, &image, size);
        bool whole = size >= offsetof(struct image, behind);

        cr_expect(eq(int, find(copy, size), whole), "%zu", size);
    }
    guarded_free(&g);
}
