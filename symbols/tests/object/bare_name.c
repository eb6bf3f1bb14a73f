/* Names as people type them. */
#include "symbols/bare_name.h"

#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "support/test.h"

static const char *const cases[][2] = {
    { "main", "main" },
    { "shape::area(double)", "shape::area" },
    { "void std::sort<int*, less<int> >(int*, int*)", "std::sort" },
    { "sort<int*>", "sort" },
    { "std::enable_if<true, int>::type swap<int>(int&, int&)", "swap" },
    { "decltype(auto) ns::make<int>()", "ns::make" },
    { "std::map<int, int>::find(int const&) const", "std::map::find" },
    { "(anonymous namespace)::check(long)", "(anonymous namespace)::check" },
    { "bool (anonymous namespace)::check<int>(long)", "(anonymous namespace)::check" },
    { "A<int>::f(int) const::{lambda()#1}::operator()() const", "A::f::{lambda()#1}::operator()" },
    { "main::{lambda(int, int)#2}::operator()(int) const",
      "main::{lambda(int, int)#2}::operator()" },
    { "bool operator< <char, traits>(string const&)", "operator<" },
    { "bool ns::operator<<int>(A<int>)", "ns::operator<<int>" }, /* "<<", as it is written */
    { "ns::operator->*(A)", "ns::operator->*" },
    { "ns::operator==(A, B)", "ns::operator==" },
    { "A::operator[](int)", "A::operator[]" },
    { "operator new(unsigned long)", "operator new" },
    { "A::operator unsigned long() const", "A::operator unsigned long" },
    { "operators::run(int)", "operators::run" },
    { "unsigned long ns::f<1 - (2)>(char)", "ns::f" },
    { "to_string[abi:cxx11](int)", "to_string" },
    { "f(int) [clone .isra.0]", "f" },
    { "parse.constprop.0", "parse" },
    { "main.main", "main.main" }, /* Go */
    { "<Vec<u8> as Clone>::clone", "<Vec<u8> as Clone>::clone" },
    { "core::fmt::<impl Debug for X>::fmt", "core::fmt::<impl Debug for X>::fmt" },
    { "core::mem::drop::<u8>", "core::mem::drop" },
    { "a::main::{{closure}}", "a::main::{{closure}}" },
    { "std::sort<...>(...)", "std::sort" },
    { "Builtin: a b.js", "Builtin: a b.js" },
    { "f(int", "f" },
    { "f<int", "f" },
    { "[0x1234]", "[0x1234]" },
    { "", "" },
};

Test(bare_name, leaves_what_a_function_is_called)
{
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        char name[128];

        snprintf(name, sizeof name, "%s", cases[i][0]);
        object_bare_name(name);
        cr_expect_str_eq(name, cases[i][1], "'%s': '%s'", cases[i][0], name);
    }
}

/* Names come from files: any text is one. */
Test(bare_name, never_leaves_the_text)
{
    static const char *const pieces[] = { "a",  "::", "<",     ">",          "(",  ")",        "{",
                                          "}",  "[",  "[abi:", "]",          " ",  "operator", "~",
                                          "->", "=",  ".cold", " [clone .x", "()", "decltype" };
    const size_t count = sizeof pieces / sizeof *pieces;
    uint32_t random = 1;

    for (unsigned round = 0; round < 50000; round++) {
        char text[128] = "";
        char *name;
        size_t used = 0;

        for (unsigned i = 0; i < 10; i++) {
            random = random * 1664525U + 1013904223U;
            used += (size_t)snprintf(text + used, sizeof text - used, "%s",
                                     pieces[(random >> 16) % count]);
        }
        name = strdup(text); /* of its own size: a sanitizer sees its end */
        cr_assert(name != NULL);
        object_bare_name(name);
        cr_assert(strlen(name) <= strlen(text), "%s: %s", text, name);
        cr_assert(object_last_name(name) <= name + strlen(name), "%s: %s", text, name);
        free(name);
    }
}

Test(bare_name, last_part)
{
    static const char *const parts[][2] = {
        { "sort", "sort" },
        { "std::sort", "sort" },
        { "a::b::c", "c" },
        { "<a::B as c::D>::clone", "clone" },
        { "main::{lambda(a::b)#2}::operator()", "operator()" },
        { "(anonymous namespace)::check", "check" },
        { "A::operator a::B", "operator a::B" },
        { "", "" },
    };

    for (size_t i = 0; i < sizeof parts / sizeof *parts; i++)
        cr_expect_str_eq(object_last_name(parts[i][0]), parts[i][1], "%s", parts[i][0]);
}
