#include "profiler/agent/heap/next.h"

#include <dlfcn.h>
#include <errno.h>
#include <link.h>
#include <stdint.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "profiler/agent/heap/heap.h"
#include "profiler/agent/heap/module_has.h"
#include "profiler/agent/heap/pool.h"
#include "profiler/agent/real.h"
#include "util/base_name.h"

/* m: size_t and std::align_val_t are `unsigned long` on all supported machines. */
static const char *const new_names[SFB_HEAP_NEWS] = {
    "_Znwm", "_ZnwmRKSt9nothrow_t", "_ZnwmSt11align_val_t", "_ZnwmSt11align_val_tRKSt9nothrow_t",
    "_Znam", "_ZnamRKSt9nothrow_t", "_ZnamSt11align_val_t", "_ZnamSt11align_val_tRKSt9nothrow_t",
};

static const char *const delete_names[SFB_HEAP_DELETES] = {
    "_ZdlPv",
    "_ZdlPvm",
    "_ZdlPvRKSt9nothrow_t",
    "_ZdlPvSt11align_val_t",
    "_ZdlPvmSt11align_val_t",
    "_ZdlPvSt11align_val_tRKSt9nothrow_t",
    "_ZdaPv",
    "_ZdaPvm",
    "_ZdaPvRKSt9nothrow_t",
    "_ZdaPvSt11align_val_t",
    "_ZdaPvmSt11align_val_t",
    "_ZdaPvSt11align_val_tRKSt9nothrow_t",
};

/* Their operators call malloc() and free(), and throw. */
static const char *const cxx_libraries[] = { "libstdc++.so.6", "libc++.so.1" };

/* volatile: dlsym() is declared a leaf function, which calls nothing of ours. */
static _Thread_local volatile bool finding __attribute__((tls_model("initial-exec")));

/*
 * Set while a name is looked up that may be missing. dlsym() keeps its error text in a block of malloc(), and some bytes
 * for good. It does without both if malloc() fails. So a counting interposer behind us sees only the program's own
 * allocations.
 */
static _Thread_local volatile bool probing __attribute__((tls_model("initial-exec")));
static uint32_t found;

/* --- until they are found ------------------------------------------------------------------------ */

static void *first_malloc(size_t size)
{
    if (probing) {
        errno = ENOMEM;
        return NULL;
    }
    return sfb_heap_next_find() ? sfb_heap_next.malloc(size) : sfb_heap_pool_take(size, 0);
}

static void *first_calloc(size_t count, size_t size)
{
    size_t total;

    if (sfb_heap_next_find())
        return sfb_heap_next.calloc(count, size);
    if (probing || __builtin_mul_overflow(count, size, &total))
        total = SIZE_MAX;
    return sfb_heap_pool_take(total, 0);
}

static void *first_realloc(void *block, size_t size)
{
    return sfb_heap_next_find() ? sfb_heap_next.realloc(block, size) : sfb_heap_pool_take(size, 0);
}

/* Blocks freed this early come from the loader's own allocator, which ignores free(). free() must not call dlsym(). */
static void first_free(void *block)
{
    (void)block;
}

static size_t first_usable_size(void *block)
{
    return sfb_heap_next_find() ? sfb_heap_next.malloc_usable_size(block) : 0;
}

static int first_posix_memalign(void **out, size_t alignment, size_t size)
{
    if (sfb_heap_next_find())
        return sfb_heap_next.posix_memalign(out, alignment, size);
    *out = sfb_heap_pool_take(size, alignment);
    return *out ? 0 : ENOMEM;
}

static void *first_aligned_alloc(size_t alignment, size_t size)
{
    return sfb_heap_next_find() ? sfb_heap_next.aligned_alloc(alignment, size)
                                : sfb_heap_pool_take(size, alignment);
}

static void *first_memalign(size_t alignment, size_t size)
{
    return sfb_heap_next_find() ? sfb_heap_next.memalign(alignment, size)
                                : sfb_heap_pool_take(size, alignment);
}

static void *first_valloc(size_t size)
{
    return sfb_heap_next_find() ? sfb_heap_next.valloc(size)
                                : sfb_heap_pool_take(size, (size_t)sysconf(_SC_PAGESIZE));
}

static void *first_pvalloc(size_t size)
{
    return sfb_heap_next_find() ? sfb_heap_next.pvalloc(size)
                                : sfb_heap_pool_take(size, (size_t)sysconf(_SC_PAGESIZE));
}

static char *first_copy(const char *text, size_t length)
{
    char *copied = first_malloc(length + 1);

    if (!copied)
        return NULL;
    copied[length] = '\0';
    return memcpy(copied, text, length);
}

static char *first_strdup(const char *text)
{
    return sfb_heap_next_find() ? sfb_heap_next.strdup(text) : first_copy(text, strlen(text));
}

static char *first_strndup(const char *text, size_t most)
{
    return sfb_heap_next_find() ? sfb_heap_next.strndup(text, most)
                                : first_copy(text, strnlen(text, most));
}

/* The raw system call does: no other interposer is loaded yet. */
static void *first_mmap(void *at, size_t size, int protection, int flags, int fd, off_t offset)
{
    const long result = syscall(SYS_mmap, at, size, protection, flags, fd, offset);

    return (void *)(uintptr_t)result; /* NOLINT(performance-no-int-to-ptr) */
}

static int first_munmap(void *at, size_t size)
{
    return (int)syscall(SYS_munmap, at, size);
}

static void *first_mremap(void *at, size_t old_size, size_t size, int flags, void *to)
{
    const long result = syscall(SYS_mremap, at, old_size, size, flags, to);

    return (void *)(uintptr_t)result; /* NOLINT(performance-no-int-to-ptr) */
}

struct sfb_heap_next sfb_heap_next = {
    .malloc = first_malloc,
    .free = first_free,
    .malloc_usable_size = first_usable_size,
    .calloc = first_calloc,
    .realloc = first_realloc,
    .posix_memalign = first_posix_memalign,
    .aligned_alloc = first_aligned_alloc,
    .memalign = first_memalign,
    .valloc = first_valloc,
    .pvalloc = first_pvalloc,
    .strdup = first_strdup,
    .strndup = first_strndup,
    .mmap = first_mmap,
    .munmap = first_munmap,
    .mremap = first_mremap,
};

/* --- finding them -------------------------------------------------------------------------------- */

/* If the name is missing, the old value stays. (ISO C has no cast from object to function pointer.) */
static void find(void *function, const char *name)
{
    void *address = dlsym(RTLD_NEXT, name);

    if (address)
        __atomic_store_n((void **)function, address, __ATOMIC_RELEASE);
}

/* The same for names that may be missing; used before malloc() is known. */
static void probe(void *function, const char *name)
{
    probing = true;
    find(function, name);
    probing = false;
}

/* --- their owners -------------------------------------------------------------------------------- */

enum { BASES = 3, FUNCTIONS = (int)SFB_HEAP_NEWS + (int)SFB_HEAP_DELETES };

/* Addresses and the modules they lie in, found in one pass. dladdr() would search all names for each. */
struct whose {
    const void *next_malloc, *first[BASES]; /* first: what the program finds */
    const void *next_usable_size, *next_strdup, *of_c_library;
    const void *next[FUNCTIONS], *found[FUNCTIONS]; /* NULL: missing */
    bool is_own[FUNCTIONS]; /* the program finds another function than ours */
    bool new_is_others, realloc_is_others, new_is_malloc, malloc_is_others, has_strdup;
    bool malloc_is_c_library;
};

static bool is_cxx_library(const struct dl_phdr_info *module)
{
    const char *name = sfb_base_name(module->dlpi_name);

    return strncmp(name, "libstdc++.so", 12) == 0 || strncmp(name, "libc++", 6) == 0;
}

static int look_at_module(struct dl_phdr_info *module, size_t size, void *user)
{
    struct whose *w = user;
    const bool ours = sfb_heap_module_has(module, &sfb_heap), cxx = is_cxx_library(module),
               allocator = sfb_heap_module_has(module, w->next_malloc);

    (void)size;
    w->malloc_is_c_library |= allocator && sfb_heap_module_has(module, w->of_c_library);
    /* An interposer between us and the allocator has strdup(), but leaves malloc_usable_size() to the allocator. */
    if (sfb_heap_module_has(module, w->next_strdup) &&
        !sfb_heap_module_has(module, w->of_c_library))
        w->has_strdup = allocator || sfb_heap_module_has(module, w->next_usable_size);
    for (size_t i = 0; i < BASES; i++)
        if (!ours && sfb_heap_module_has(module, w->first[i])) {
            w->new_is_others = w->malloc_is_others = true;
            w->realloc_is_others |= i == 0;
        }
    for (size_t i = 0; i < FUNCTIONS; i++) {
        if (sfb_heap_module_has(module, w->found[i])) {
            w->is_own[i] = !ours;
            w->new_is_others |= !ours;
        }
        if (cxx || !sfb_heap_module_has(module, w->next[i]))
            continue;
        w->new_is_malloc = false;
        w->new_is_others |= !allocator;
    }
    return 0;
}

/*
 * Our operators replace the next ones only if all of them are replaced. A block of ours must not reach a function of the
 * program's own, nor one of its blocks ours. If the program has operators of its own, the C++ library's call them by
 * name, as without us.
 */
static void find_whose(void)
{
    static const char *const bases[BASES] = { "realloc", "malloc", "free" };
    struct sfb_heap_next *next = &sfb_heap_next;
    struct whose w = { .new_is_malloc = true };
    long (*const of_c_library)(int) = sysconf;

    memcpy(&w.next_malloc, &next->malloc, sizeof w.next_malloc);
    memcpy(&w.next_usable_size, &next->malloc_usable_size, sizeof w.next_usable_size);
    memcpy(&w.next_strdup, &next->strdup, sizeof w.next_strdup);
    memcpy(&w.of_c_library, &of_c_library, sizeof w.of_c_library);
    memcpy(w.next, next->new, SFB_HEAP_NEWS * sizeof *w.next);
    memcpy(w.next + SFB_HEAP_NEWS, next->delete, SFB_HEAP_DELETES * sizeof *w.next);
    for (size_t i = 0; i < BASES; i++)
        w.first[i] = dlsym(RTLD_DEFAULT, bases[i]);
    for (size_t i = 0; i < SFB_HEAP_NEWS; i++)
        w.found[i] = dlsym(RTLD_DEFAULT, new_names[i]);
    for (size_t i = 0; i < SFB_HEAP_DELETES; i++)
        w.found[SFB_HEAP_NEWS + i] = dlsym(RTLD_DEFAULT, delete_names[i]);
    dl_iterate_phdr(look_at_module, &w);
    next->new_is_malloc = w.new_is_malloc;
    next->realloc_is_others = w.realloc_is_others;
    next->malloc_is_c_library = w.malloc_is_c_library;
    next->has_strdup = w.has_strdup && !w.malloc_is_others;
    for (size_t i = 0; i < SFB_HEAP_DELETES; i++)
        memcpy(&next->delete_of_others[i],
               w.is_own[SFB_HEAP_NEWS + i] ? &w.found[SFB_HEAP_NEWS + i]
                                           : &w.next[SFB_HEAP_NEWS + i],
               sizeof(void *));
    next->new_is_others = w.new_is_others;
}

/* Called before malloc() is known. */
static void find_operators(struct sfb_heap_next *next)
{
    for (size_t i = 0; i < SFB_HEAP_DELETES; i++)
        probe(&next->delete[i], delete_names[i]);
    for (size_t i = 0; i < SFB_HEAP_NEWS; i++)
        probe(&next->new[i], new_names[i]);
}

/* Functions that dlsym() itself may call come last. Two threads may run this at once; both write the same values. */
static void find_all(void)
{
    struct sfb_heap_next *next = &sfb_heap_next;

    find_operators(next);
    probe(&next->reallocarray, "reallocarray");
    probe(&next->free_sized, "free_sized");
    probe(&next->free_aligned_sized, "free_aligned_sized");
    probe(&next->mallinfo2, "mallinfo2");
    probe(&next->mallctl, "mallctl");
    probe(&next->tcmalloc_property, "MallocExtension_GetNumericProperty");
    find(&next->malloc_usable_size, "malloc_usable_size");
    find(&next->posix_memalign, "posix_memalign");
    find(&next->aligned_alloc, "aligned_alloc");
    find(&next->memalign, "memalign");
    find(&next->valloc, "valloc");
    find(&next->pvalloc, "pvalloc");
    find(&next->strdup, "strdup");
    find(&next->strndup, "strndup");
    find(&next->mmap, "mmap");
    find(&next->munmap, "munmap");
    find(&next->mremap, "mremap");
    find(&next->free, "free");
    find(&next->calloc, "calloc");
    find(&next->realloc, "realloc");
    find(&next->malloc, "malloc");
    find_whose();
}

bool sfb_heap_next_find(void)
{
    if (finding)
        return false;
    if (__atomic_load_n(&found, __ATOMIC_ACQUIRE))
        return true;
    finding = true;
    find_all();
    finding = false;
    __atomic_store_n(&found, 1, __ATOMIC_RELEASE);
    return true;
}

sfb_heap_new_function *sfb_heap_next_hidden_new(enum sfb_heap_new form)
{
    sfb_heap_new_function *function = NULL;

    for (size_t i = 0; i < sizeof cxx_libraries / sizeof *cxx_libraries && !function; i++) {
        void *library = sfb_real()->dlopen(cxx_libraries[i], RTLD_LAZY | RTLD_NOLOAD);
        void *address = library ? dlsym(library, new_names[form]) : NULL;

        memcpy(&function, &address, sizeof address);
        if (library)
            sfb_real()->dlclose(library);
    }
    return function;
}
