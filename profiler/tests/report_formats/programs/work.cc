// CPU time in inlined functions, in a recursion, in a function whose name has what other formats take for their own
// signs, and in a thread whose name is no ASCII.
#include <pthread.h>

#include <cstdlib>

static volatile unsigned long sink;

// The name is given to the assembler in quotes, so that it may be anything.
extern "C" __attribute__((noinline)) void strange(unsigned long n) __asm__("\"a;b, c\"");

namespace shape {

template <typename A, typename B> struct box {
    __attribute__((noinline)) unsigned long area(A a, B b)
    {
        for (A i = 0; i < a; i++)
            sink = sink * 3 + i + b;
        return sink;
    }
};

static inline __attribute__((always_inline)) unsigned long mixed(unsigned long x)
{
    x ^= x << 13;
    x ^= x >> 7;
    x ^= x << 17;
    return x;
}

__attribute__((noinline)) unsigned long inlines(unsigned long n)
{
    unsigned long x = 88172645463325252UL;

    for (unsigned long i = 0; i < n; i++)
        x = mixed(x);
    sink = x;
    return x + 1;
}

__attribute__((noinline)) unsigned long down(int depth, unsigned long n)
{
    if (depth == 0)
        return inlines(n) + 1;
    for (unsigned long i = 0; i < n / 8; i++)
        sink += i;
    return down(depth - 1, n) + 1;
}

} // namespace shape

void strange(unsigned long n)
{
    for (unsigned long i = 0; i < n; i++)
        sink += i * i;
}

static unsigned long rounds;

static void *work(void *)
{
    shape::box<unsigned long, unsigned> box;

    for (unsigned long i = 0; i < rounds; i++) {
        box.area(20000, 3);
        strange(20000);
        shape::down(8, 20000);
    }
    return nullptr;
}

int main(int argc, char **argv)
{
    pthread_t thread;

    rounds = argc > 1 ? strtoul(argv[1], nullptr, 10) : 500;
    pthread_create(&thread, nullptr, work, nullptr);
    pthread_setname_np(thread, "fäden→1");
    work(nullptr);
    pthread_join(thread, nullptr);
    return 0;
}
