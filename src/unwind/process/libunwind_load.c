/*
 * Loads libunwind when this library is loaded, so that no signal handler has to.
 *
 * Its symbols must stay out of the process: libunwind.so exports `backtrace` and `_Unwind_*`, which
 * would silently replace glibc's and libgcc's. dlopen() with RTLD_LOCAL keeps them out of the global
 * scope; linking would not. RTLD_NOW leaves no call to be bound in a handler. The generic library
 * (libunwind-x86_64 and the like) is loaded, not the local one: all of its accesses go through our own
 * functions. See walk/libunwind_access.c.
 */
#include "unwind/process/libunwind_load.h"

#include <dlfcn.h>
#include <link.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stdint.h>
#include <string.h>
#include <sys/auxv.h>

#include "unwind/machine/arch.h"
#include "unwind/walk/libunwind_access.h"

#define STRING_(x) #x
#define STRING(x)  STRING_(x)

/* Weak: a static program has no dlopen(), and then no libunwind, but links. */
__attribute__((weak)) __typeof__(dlopen) dlopen;
__attribute__((weak)) __typeof__(dlsym) dlsym;

static struct sfb_libunwind functions;
static _Atomic(const struct sfb_libunwind *) loaded;

const struct sfb_libunwind *sfb_libunwind_loaded(void)
{
    return atomic_load_explicit(&loaded, memory_order_acquire);
}

static bool bind(void *library, void *function, const char *name)
{
    void *address = dlsym(library, name);

    memcpy(function, &address, sizeof address); /* ISO C has no cast from object to function */
    return address != NULL;
}

/* libunwind 1.8 lists modules with this instead of dl_iterate_phdr(), which locks. */
typedef int iterate_phdr(int (*callback)(struct dl_phdr_info *, size_t, void *), void *arg);

static int no_modules(int (*callback)(struct dl_phdr_info *, size_t, void *), void *arg)
{
    (void)callback;
    (void)arg;
    return 0;
}

/* The first use sets up pools and tables under a lock: done here, before any signal handler. */
static void warm_up(const struct sfb_libunwind *lib)
{
    unw_cursor_t cursor;

    lib->init_remote(&cursor, lib->space, NULL);
}

/*
 * A static program may have a dlopen(), because its libc.a needs it (iconv, NSS; glibc 2.36 always
 * does). It would load a second libc beside the linked one. A static program has no interpreter in
 * its program headers.
 */
static bool is_static(void)
{
    const ElfW(Phdr) *phdrs = (const void *)(uintptr_t)getauxval(AT_PHDR);
    uint64_t count = phdrs ? getauxval(AT_PHNUM) : 0;

    for (uint64_t i = 0; i < count; i++)
        if (phdrs[i].p_type == PT_INTERP)
            return false;
    return true;
}

const struct sfb_libunwind *sfb_libunwind_load(void)
{
    struct sfb_libunwind *f = &functions;
    __typeof__(unw_create_addr_space) *create;
    __typeof__(unw_set_caching_policy) *set_caching;
    void (*set_iterate_phdr)(unw_addr_space_t, iterate_phdr *);
    union sfb_libunwind_accessors accessors;
    void *library;

    if (!dlopen || !dlsym || is_static())
        return NULL;
    library = dlopen(SFB_ARCH_LIBUNWIND, RTLD_NOW | RTLD_LOCAL);
    if (!library)
        return NULL;
    /* The headers' macros expand to the exported names: _Ux86_64_step and the like. */
    if (!bind(library, &create, STRING(unw_create_addr_space)) ||
        !bind(library, &set_caching, STRING(unw_set_caching_policy)) ||
        !bind(library, &f->init_remote, STRING(unw_init_remote)) ||
        !bind(library, &f->step, STRING(unw_step)) ||
        !bind(library, &f->get_reg, STRING(unw_get_reg)) ||
        !bind(library, &f->get_save_loc, STRING(unw_get_save_loc)) ||
        !bind(library, &f->search_unwind_table, STRING(UNW_OBJ(dwarf_search_unwind_table))))
        return NULL;
    sfb_libunwind_accessors_fill(&accessors);
    f->space = create(&accessors.known, 0);
    if (!f->space)
        return NULL;
    /*
     * Its rule cache takes a lock, does not notice dlclose(), and so keeps rules of unloaded
     * libraries.
     */
    set_caching(f->space, UNW_CACHE_NONE);
    if (bind(library, &set_iterate_phdr, STRING(UNW_OBJ(set_iterate_phdr_function))))
        set_iterate_phdr(f->space, no_modules);
    warm_up(f);
    atomic_store_explicit(&loaded, f, memory_order_release);
    return f;
}
