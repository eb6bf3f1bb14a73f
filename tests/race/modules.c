/*
 * The cache of modules: threads load libraries, walk through them, unload them and list the modules, each at its own pace.
 * A walk through a library that is loaded reaches its end, and a list has the program in it.
 */
#include <dlfcn.h>
#include <stdatomic.h>
#include <stdbool.h>

#include "race/check.h"
#include "sfb/image_map.h"
#include "sframe_backtrace.h"

enum { LOADERS = 3, LOADS = 120, LISTERS = 2, MAP = 1 << 16 };

static atomic_uint loading = LOADERS, walks, lists;

/* A list reads what a module says of itself. A page that goes between the probe and the load is a limit (pages.c). */
static pthread_mutex_t unloads = PTHREAD_MUTEX_INITIALIZER;

static int from_library(void)
{
    struct sframe_backtrace_info info = SFRAME_BACKTRACE_INFO_INIT;
    uint8_t cbf[1024];

    CHECK(sframe_backtrace_cbf(cbf, sizeof cbf, NULL, &info) > 0, "no backtrace");
    CHECK(info.end == SFB_END, "it ends with %d", (int)info.end);
    atomic_fetch_add(&walks, 1);
    return 0;
}

static void *load(void *with)
{
    static const char *const names[] = { SFB_RACE_LIBRARY, SFB_RACE_OTHER_LIBRARY };

    for (uintptr_t i = 0; i < LOADS; i++) {
        void *library = dlopen(names[(i + (uintptr_t)with) % 2], RTLD_NOW | RTLD_LOCAL);
        int (*call_back)(int (*)(void));

        CHECK(library, "%s", dlerror());
        *(void **)&call_back = dlsym(library, "call_back");
        call_back(from_library);
        pthread_mutex_lock(&unloads);
        dlclose(library);
        pthread_mutex_unlock(&unloads);
    }
    atomic_fetch_sub(&loading, 1);
    return NULL;
}

static void *list(void *with)
{
    uint8_t *const map = malloc(MAP);

    (void)with;
    CHECK(map, "no memory");
    while (atomic_load(&loading) > 0) {
        uint32_t left_out = 0;

        pthread_mutex_lock(&unloads);
        CHECK(sframe_backtrace_image_map(map, MAP, &left_out) > 16, "an empty list");
        pthread_mutex_unlock(&unloads);
        CHECK(left_out == 0, "%u modules are left out", left_out);
        sframe_backtrace_refresh();
        atomic_fetch_add(&lists, 1);
    }
    free(map);
    return NULL;
}

int main(void)
{
    pthread_t loaders[LOADERS], listers[LISTERS];

    for (int i = 0; i < LISTERS; i++)
        begin_thread(&listers[i], list, NULL);
    for (uintptr_t i = 0; i < LOADERS; i++)
        begin_thread(&loaders[i], load, (void *)i);
    for (int i = 0; i < LOADERS; i++)
        pthread_join(loaders[i], NULL);
    for (int i = 0; i < LISTERS; i++)
        pthread_join(listers[i], NULL);
    CHECK(atomic_load(&walks) == LOADERS * LOADS, "%u walks", atomic_load(&walks));
    printf("modules: %u walks, %u lists\n", atomic_load(&walks), atomic_load(&lists));
    return 0;
}
