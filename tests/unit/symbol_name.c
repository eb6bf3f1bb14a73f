/* Names of functions as people write them. */
#include <stdlib.h>
#include <string.h>

#include "support/test.h"
#include "symbol_name.h"

static void expect_name(const char *raw, bool demangled, const char *want)
{
    char *name = symbol_name(raw, demangled);

    cr_assert(name != NULL);
    cr_expect(eq(int, strcmp(name, want), 0), "%s", name);
    free(name);
}

Test(symbol_name, is_read_by_people)
{
    expect_name("_ZN5shape4areaEi", true, "shape::area(int)");
    expect_name("_ZN5shape4areaEi", false, "_ZN5shape4areaEi");
    expect_name("_ZNSt6vectorIiSaIiEE4pushEv@@LIB_1.0", true,
                "std::vector<int, std::allocator<int> >::push()");
    expect_name("pow@@GLIBC_2.29", true, "pow");
    expect_name("pow@@GLIBC_2.29", false, "pow");
    /* What looks like a name of a C++ function or type, and is none. */
    expect_name("f", true, "f");
    expect_name("_Z", true, "_Z");
    expect_name("_ZN5shape", true, "_ZN5shape");
    expect_name("", true, "");
}
