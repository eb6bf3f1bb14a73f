// CPU-bound: C++20's coroutines that resume each other, with exceptions.
#include <coroutine>
#include <exception>
#include <stdexcept>

static volatile long sink;

struct generator {
    struct promise_type {
        long value = 0;
        std::exception_ptr thrown;

        generator get_return_object()
        {
            return { std::coroutine_handle<promise_type>::from_promise(*this) };
        }
        std::suspend_always initial_suspend() noexcept { return {}; }
        std::suspend_always final_suspend() noexcept { return {}; }
        std::suspend_always yield_value(long v)
        {
            value = v;
            return {};
        }
        void unhandled_exception() { thrown = std::current_exception(); }
        void return_void() {}
    };

    std::coroutine_handle<promise_type> handle;

    ~generator() { handle.destroy(); }
    bool next()
    {
        handle.resume();
        if (handle.promise().thrown)
            std::rethrow_exception(handle.promise().thrown);
        return !handle.done();
    }
};

__attribute__((noinline)) static long work(long n)
{
    return n < 2 ? n : work(n - 1) + work(n - 2);
}

static generator walk(int depth, bool fails)
{
    if (depth == 0 && fails)
        throw std::runtime_error("thrown");
    if (depth > 0) {
        generator inner = walk(depth - 1, fails);

        while (inner.next())
            co_yield inner.handle.promise().value + work(3);
    }
    co_yield work(5);
}

int main()
{
    for (long i = 0; i < 100000000; i++) {
        generator g = walk(6, i % 16 == 0);

        try {
            while (g.next())
                sink = sink + g.handle.promise().value;
        } catch (const std::runtime_error &) {
            sink = sink + 1;
        }
    }
}
