/* Names that are made to fit. */
#include "symbols/short_name.h"

#include <stdio.h>
#include <string.h>

#include "support/test.h"

static const struct {
    const char *name;
    size_t size;
    const char *want;
} cases[] = {
    { "fits(int, int)", 14, "fits(int, int)" },
    /* The smallest brackets that suffice. */
    { "f<alpha, beta>(gamma, delta, epsilon)", 36, "f<...>(gamma, delta, epsilon)" },
    { "f<alpha, beta>(gamma, delta, epsilon)", 24, "f<alpha, beta>(...)" },
    { "f<alpha, beta>(gamma, delta, epsilon)", 18, "f<...>(...)" },
    { "map<string, vector<int, alloc<int> > >::find(string)", 44,
      "map<string, vector<...> >::find(string)" },
    /* A type stands before the name of a function template, and goes last. */
    { "std::enable_if<true, int>::type swap<int>(int&, int&)", 32, "swap<int>(...)" },
    { "void std::sort<int*, less<int> >(int*, int*)", 22, "std::sort<...>(...)" },
    { "void std::sort<int*, less<int> >(int*, int*)", 30, "void std::sort<...>(...)" },
    { "bool (anonymous namespace)::check(long, long)", 40,
      "bool (anonymous namespace)::check(...)" },
    /* Names of operators may look like brackets; a conversion has a type for a name. */
    { "bool operator< <char, traits>(string const&)", 24, "operator< <...>(...)" },
    { "shape::operator std::vector<int, alloc>() const", 20,
      "shape::operator std::vector<...>() "
      "const" },
    /* What has no bracket, or an open one, stays. */
    { "a_very_long_name_of_a_function", 10, "a_very_long_name_of_a_function" },
    { "f(int, int", 4, "f(int, int" },
    { "", 0, "" },
};

Test(short_name, fits)
{
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        char name[128];

        snprintf(name, sizeof name, "%s", cases[i].name);
        object_fit_name(name, cases[i].size);
        cr_expect(eq(int, strcmp(name, cases[i].want), 0), "%s in %zu: %s, not %s", cases[i].name,
                  cases[i].size, name, cases[i].want);
    }
}

/* Never longer than it was, at any size. */
Test(short_name, never_grows)
{
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++)
        for (size_t size = 0; size < 64; size++) {
            char name[128];

            snprintf(name, sizeof name, "%s", cases[i].name);
            object_fit_name(name, size);
            cr_expect(le(sz, strlen(name), strlen(cases[i].name)), "%s", name);
        }
}
