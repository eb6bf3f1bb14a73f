/*
 * A library with functions of many kinds, for its tables: they call each other and then back.
 * Linked without a build-id, so that nothing that its tables say is remembered.
 */
typedef int back_fn(void);

int through_all(back_fn *back);

static volatile int sink;

#define FRAME(name, size, next)                                                                    \
    __attribute__((noinline)) static int name(back_fn *back)                                       \
    {                                                                                              \
        volatile char space[size];                                                                 \
                                                                                                   \
        space[0] = (char)next(back);                                                               \
        return space[0] + sink++;                                                                  \
    }

__attribute__((noinline)) static int innermost(back_fn *back)
{
    return back() + sink++;
}

FRAME(small, 8, innermost)
FRAME(medium, 200, small)
FRAME(large, 5000, medium)

__attribute__((noinline)) static int of_any_size(back_fn *back)
{
    volatile char *space = __builtin_alloca((unsigned)(sink & 15) * 16 + 16);

    space[0] = (char)large(back);
    return space[0] + sink++;
}

FRAME(other, 72, of_any_size)

__attribute__((noinline)) static int with_registers(back_fn *back, long a, long b, long c, long d)
{
    long sum = a * b, product = c + d, all = a + b + c + d;

    sum += other(back);
    return (int)(sum + product + all + a + b + c + d) + sink++;
}

int through_all(back_fn *back)
{
    int result = with_registers(back, sink, sink + 1, sink + 2, sink + 3);

    return result + sink++;
}
