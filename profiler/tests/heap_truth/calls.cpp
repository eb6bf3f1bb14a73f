/*
 * A program that calls each form of operator new and delete, as calls.c does with the functions of C.
 *
 *     calls-cpp [no-throw]
 */
#include <cstdio>
#include <cstring>
#include <limits>
#include <list>
#include <memory>
#include <new>
#include <stdexcept>
#include <string>
#include <thread>
#include <vector>

#include "sums.h"

namespace
{

enum { ROUNDS = 100 };

const volatile size_t huge = std::numeric_limits<size_t>::max() / 2 - 4096;
void *volatile kept;
bool wrong;

#define EXPECT(what)                                                                               \
    do {                                                                                           \
        if (!(what)) {                                                                             \
            std::fprintf(stderr, "calls-cpp: line %d: not so: %s\n", __LINE__, #what);             \
            wrong = true;                                                                          \
        }                                                                                          \
    } while (0)

/* Every fourth block stays; the others go as `gone` says. */
template <typename Gone> void settle(sum *s, void *p, size_t size, int round, Gone gone)
{
    EXPECT(p != nullptr);
    std::memset(p, 1, size);
    sum_add(s, size);
    if (round % 4 == 0)
        kept = p;
    else {
        gone(p);
        sum_free(s, size);
    }
}

constexpr std::align_val_t aligned{ 128 };

#define FORM(name, made, ...)                                                                      \
    NOINLINE void name(sum *s)                                                                     \
    {                                                                                              \
        for (int i = 0; i < ROUNDS; i++) {                                                         \
            const size_t size = static_cast<size_t>(i) * 5 + 1;                                    \
            settle(s, made, size, i, [size](void *p) {                                             \
                (void)size;                                                                        \
                __VA_ARGS__;                                                                       \
            });                                                                                    \
        }                                                                                          \
    }

FORM(use_new, ::operator new(size), ::operator delete(p))
FORM(use_new_sized, ::operator new(size), ::operator delete(p, size))
FORM(use_new_array, ::operator new[](size), ::operator delete[](p))
FORM(use_new_array_sized, ::operator new[](size), ::operator delete[](p, size))
FORM(use_new_nothrow, ::operator new(size, std::nothrow), ::operator delete(p, std::nothrow))
FORM(use_new_array_nothrow, ::operator new[](size, std::nothrow),
     ::operator delete[](p, std::nothrow))
FORM(use_new_aligned, ::operator new(size, aligned), ::operator delete(p, aligned))
FORM(use_new_aligned_sized, ::operator new(size, aligned), ::operator delete(p, size, aligned))
FORM(use_new_array_aligned, ::operator new[](size, aligned), ::operator delete[](p, aligned))
FORM(use_new_array_aligned_sized, ::operator new[](size, aligned),
     ::operator delete[](p, size, aligned))
FORM(use_new_aligned_nothrow, ::operator new(size, aligned, std::nothrow),
     ::operator delete(p, aligned, std::nothrow))
FORM(use_new_array_aligned_nothrow, ::operator new[](size, aligned, std::nothrow),
     ::operator delete[](p, aligned, std::nothrow))

template <typename Made> void fails(Made made)
{
    bool thrown = false;

    try {
        kept = made();
    } catch (const std::bad_alloc &) {
        thrown = true;
    }
    EXPECT(thrown);
}

NOINLINE void use_failures(bool no_throw)
{
    for (int i = 0; i < 10; i++) {
        EXPECT(::operator new(huge, std::nothrow) == nullptr);
        EXPECT(::operator new[](huge, std::nothrow) == nullptr);
        EXPECT(::operator new(huge, aligned, std::nothrow) == nullptr);
        EXPECT(::operator new[](huge, aligned, std::nothrow) == nullptr);
        if (no_throw)
            continue;
        fails([] { return ::operator new(huge); });
        fails([] { return ::operator new[](huge); });
        fails([] { return ::operator new(huge, aligned); });
        fails([] { return ::operator new[](huge, aligned); });
    }
}

/* What programs do; nobody here knows how much that is. */
NOINLINE void live_a_little()
{
    std::list<std::string> list;
    std::vector<std::unique_ptr<std::string>> vector;

    for (int i = 0; i < 1000; i++) {
        list.push_back(std::string(static_cast<size_t>(i % 64), 'x'));
        vector.push_back(std::make_unique<std::string>("a string that is longer than a small one"));
        try {
            if (i % 100 == 0)
                throw std::runtime_error("thrown");
        } catch (const std::exception &e) {
            EXPECT(std::strcmp(e.what(), "thrown") == 0);
        }
    }
    std::thread([&] { list.clear(); }).join();
}

const use uses[] = {
    USE(use_new),
    USE(use_new_sized),
    USE(use_new_array),
    USE(use_new_array_sized),
    USE(use_new_nothrow),
    USE(use_new_array_nothrow),
    USE(use_new_aligned),
    USE(use_new_aligned_sized),
    USE(use_new_array_aligned),
    USE(use_new_array_aligned_sized),
    USE(use_new_aligned_nothrow),
    USE(use_new_array_aligned_nothrow),
};

} // namespace

int main(int argc, char **argv)
{
    /* mimalloc is C: where C++ would throw it aborts. */
    const bool no_throw = argc > 1 && std::strcmp(argv[1], "no-throw") == 0;

    static sum sums[sizeof uses / sizeof *uses];

    for (size_t i = 0; i < sizeof uses / sizeof *uses; i++)
        uses[i].function(&sums[i]);
    use_failures(no_throw);
    live_a_little();
    sums_print(uses, sums, sizeof uses / sizeof *uses);
    return wrong;
}
