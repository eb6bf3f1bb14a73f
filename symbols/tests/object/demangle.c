/* Names of functions as people write them. */
#include "symbols/demangle.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "support/test.h"

/* Of libstdc++: "Itanium C++ ABI", 3.4. C programs have no header for it. */
char *__cxa_demangle(/* NOLINT(bugprone-reserved-identifier,cert-dcl37-c,cert-dcl51-cpp) */
                     const char *name, char *buffer, size_t *size, int *status);

static void expect_name(const char *raw, enum object_name_style style, const char *want)
{
    char *name = object_demangle(raw, style);

    cr_assert(name != NULL);
    cr_expect(eq(int, strcmp(name, want), 0), "%s: %s, not %s", raw, name, want);
    free(name);
}

Test(demangle, is_read_by_people)
{
    expect_name("_ZN5shape4areaEi", OBJECT_NAME_FULL, "shape::area(int)");
    expect_name("_ZN5shape4areaEi", OBJECT_NAME_RAW, "_ZN5shape4areaEi");
    expect_name("_ZNSt6vectorIiSaIiEE4pushEv@@LIB_1.0", OBJECT_NAME_FULL,
                "std::vector<int, std::allocator<int> >::push()");
    expect_name("_ZL4sortv.cold", OBJECT_NAME_FULL, "sort() [clone .cold]");
    expect_name("pow@@GLIBC_2.29", OBJECT_NAME_FULL, "pow");
    expect_name("pow@@GLIBC_2.29", OBJECT_NAME_RAW, "pow");
    /* Text that resembles a name of a C++ function or type. */
    expect_name("f", OBJECT_NAME_FULL, "f");
    expect_name("_Z", OBJECT_NAME_FULL, "_Z");
    expect_name("_ZN5shape", OBJECT_NAME_FULL, "_ZN5shape");
    expect_name("", OBJECT_NAME_FULL, "");
}

Test(demangle, asks_the_demangler_of_the_language)
{
    /* Rust's own names, of version 0 and before it. */
    expect_name("_RINvNtCsd4VYFwevHkG_4core3mem8align_ofdEB4_", OBJECT_NAME_FULL,
                "core::mem::align_of::<f64>");
    expect_name("_ZN4core3fmt9Formatter3pad17h0123456789abcdefE", OBJECT_NAME_FULL,
                "core::fmt::Formatter::pad");
    expect_name("_ZN50_$LT$$RF$mut$u20$W$u20$as$u20$core..fmt..Write$GT$9write_str"
                "17h0123456789abcdefE",
                OBJECT_NAME_FULL, "<&mut W as core::fmt::Write>::write_str");
    expect_name("_ZN4core3fmt3pad17h0123456789abcdefE.llvm.81", OBJECT_NAME_FULL, "core::fmt::pad");
    /* The same, but for its hash: a C++ function. */
    expect_name("_ZN4core3fmt3padE", OBJECT_NAME_FULL, "core::fmt::pad");
    expect_name("_D3std5stdio7writelnFAyaZv", OBJECT_NAME_FULL,
                "std.stdio.writeln(immutable(char)[])");
    /* What has the first letters only. */
    expect_name("_Read", OBJECT_NAME_FULL, "_Read");
    expect_name("_Delete", OBJECT_NAME_FULL, "_Delete");
    expect_name("_R", OBJECT_NAME_FULL, "_R");
    expect_name("_D", OBJECT_NAME_FULL, "_D");
}

Test(demangle, writes_what_libstdcxx_writes)
{
    static const char *const names[] = {
        "_ZNKSt8functionIFviEEclEi",
        "_ZN12_GLOBAL__N_14sortIPiZ4mainEUliiE_EEvT_S2_T0_",
        "_ZStlsISt11char_traitsIcEERSt13basic_ostreamIcT_ES5_PKc",
        "_ZNSt7__cxx1112basic_stringIcSt11char_traitsIcESaIcEEC2Ev",
        "_ZN9__gnu_cxx17__normal_iteratorIPKcSsE4baseEv",
        "_ZTv0_n24_NSt13basic_ostreamIwSt11char_traitsIwEED1Ev",
        "_ZZ4mainENKUlvE_clEv",
        "_Z1fIJidEEvDpT_",
        "_Z1fPFvPFvPFvvEEE",
        "_ZN3fooD0Ev.part.0",
    };

    for (size_t i = 0; i < sizeof names / sizeof *names; i++) {
        char *want = __cxa_demangle(names[i], NULL, NULL, NULL);

        cr_assert(want != NULL, "%s", names[i]);
        expect_name(names[i], OBJECT_NAME_FULL, want);
        free(want);
    }
}

Test(demangle, is_not_drowned_by_a_name)
{
    static const char digits[] = "0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZ";
    size_t size, longest = 0, cut = 0;
    char name[40000], *text;

    /* Each letter is a call more in the demangler, and one bracket more. */
    for (size_t length = 100; length < sizeof name; length += 1000) {
        memset(name, 'P', length);
        memcpy(name, "_Z1f", 4);
        memcpy(name + length - 2, "i", 2);
        text = object_demangle(name, OBJECT_NAME_SHORT);
        cr_assert(text != NULL);
        free(text);
    }
    /*
     * Each argument is B<before, before>, twice as long as the one before. Two more things can be
     * referred to behind each: "B", and B with its arguments.
     */
    size = (size_t)snprintf(name, sizeof name, "_Z1fI1AIiiE");
    for (size_t i = 0; i < 60; i++) {
        char before[3] = { digits[(2 * i + 1) / 36], digits[(2 * i + 1) % 36], '\0' };
        const char *reference = before[0] == '0' ? before + 1 : before;

        size +=
            (size_t)snprintf(name + size, sizeof name - size, "1BIS%s_S%s_E", reference, reference);
        snprintf(name + size, sizeof name - size, "Evv");
        text = object_demangle(name, OBJECT_NAME_FULL);
        cr_assert(text != NULL);
        longest = strlen(text) > longest ? strlen(text) : longest;
        cut += strcmp(text, name) == 0;
        free(text);
    }
    cr_expect(longest > 1 << 18 && longest <= 1 << 20, "%zu", longest);
    cr_expect(cut > 40, "%zu", cut);
}

Test(demangle, cuts_arguments_of_short_names)
{
    static const struct {
        const char *raw, *want;
    } cases[] = {
        { "_ZN5shape4areaEdd", "shape::area(...)" },
        { "_ZN5shape4areaEv", "shape::area()" },
        { "_ZNSt6vectorIiSaIiEE4pushEv", "std::vector<...>::push()" },
        { "_ZStlsISt11char_traitsIcEERSt13basic_ostreamIcT_ES5_PKc",
          "std::basic_ostream<...>& std::operator<< <...>(...)" },
        { "_ZNKSt8functionIFviEEclEi", "std::function<...>::operator()(int) const" },
        { "_ZN12_GLOBAL__N_14sortEPi", "(anonymous namespace)::sort(...)" },
        { "_ZN50_$LT$$RF$mut$u20$W$u20$as$u20$core..fmt..Write$GT$9write_str17h0123456789abcdefE",
          "<&mut W as core::fmt::Write>::write_str" },
        { "_RINvNtCsd4VYFwevHkG_4core3mem8align_ofdEB4_", "core::mem::align_of::<f64>" },
        { "main", "main" },
    };

    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++)
        expect_name(cases[i].raw, OBJECT_NAME_SHORT, cases[i].want);
}
