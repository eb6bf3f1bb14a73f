/*
 * libunwind does not leak: in a program that links our library, `backtrace` is still glibc's and
 * `_Unwind_Backtrace` libgcc's, although libunwind, which exports both names, is loaded.
 */
#define UNW_LOCAL_ONLY
#include <dlfcn.h>
#include <libunwind.h>
#include <stdio.h>
#include <string.h>

#include "sframe_backtrace.h"
#include "support/compiler.h"
#include "support/test.h"
#include "unwind/machine/arch.h"

#define STRING_(x) #x
#define STRING(x)  STRING_(x)

static const char *library_of(const char *symbol)
{
    void *address = dlsym(RTLD_DEFAULT, symbol);
    Dl_info info = { 0 };

    return address && dladdr(address, &info) ? info.dli_fname : "";
}

static bool is_mapped(const char *name)
{
    FILE *maps = fopen("/proc/self/maps", "r");
    char line[512];
    bool found = false;

    cr_assert(maps != NULL);
    while (fgets(line, sizeof line, maps))
        found |= strstr(line, name) != NULL;
    fclose(maps);
    return found;
}

Test(no_leak, names_still_resolve_to_libc_and_libgcc)
{
    uint8_t buffer[512];

    cr_assert(lt(int, 0, (int)sframe_backtrace_cbf(buffer, sizeof buffer, NULL, NULL)));
    cr_expect(is_mapped("/" SFB_ARCH_LIBUNWIND), "the test means something: libunwind is there");
    if (sanitized())
        cr_skip("the sanitizer's own runtime stands before libc's backtrace");
    cr_expect(strstr(library_of("backtrace"), "libc.so") != NULL, "%s", library_of("backtrace"));

    /* Not everybody's program has libgcc_s: then nobody may answer, libunwind least of all. */
    dlopen("libgcc_s.so.1", RTLD_NOW | RTLD_GLOBAL);
    cr_expect(strstr(library_of("_Unwind_Backtrace"), "libgcc_s") != NULL, "%s",
              library_of("_Unwind_Backtrace"));
    cr_expect(library_of("unw_backtrace")[0] == 0);
    cr_expect(library_of(STRING(unw_step))[0] == 0);
}
