// Coroutines that wait for asio: one that waits, and the same one when it runs, each with those that await it.
#include <sframe_backtrace.h>

#include <asio/io_context.hpp>
#include <asio/post.hpp>
#include <asio/steady_timer.hpp>
#include <coroutine>
#include <cstdio>
#include <exception>
#include <unistd.h>
#include <utility>

static asio::io_context loop;
static asio::steady_timer timer(loop, asio::steady_timer::time_point::max());

class task {
public:
    struct promise_type;
    using handle = std::coroutine_handle<promise_type>;

    struct at_end {
        bool await_ready() noexcept { return false; }
        std::coroutine_handle<> await_suspend(handle ended) noexcept
        {
            running = ended.promise().awaited_by;
            return running ? running : std::coroutine_handle<>(std::noop_coroutine());
        }
        void await_resume() noexcept {}
    };

    struct promise_type {
        handle awaited_by; // null: none
        task get_return_object() { return task(handle::from_promise(*this)); }
        std::suspend_always initial_suspend() noexcept { return {}; }
        at_end final_suspend() noexcept { return {}; }
        void return_void() {}
        void unhandled_exception() { std::terminate(); }
    };

    explicit task(handle own) : own(own) {}
    task(task &&other) noexcept : own(std::exchange(other.own, nullptr)) {}
    ~task()
    {
        if (own)
            own.destroy();
    }

    bool await_ready() { return false; }
    std::coroutine_handle<> await_suspend(handle by)
    {
        own.promise().awaited_by = by;
        return running = own;
    }
    void await_resume() {}

    void start() { asio::post(loop, [own = own] { resume(own); }); }
    static void resume(std::coroutine_handle<> next)
    {
        running = handle::from_address(next.address());
        next.resume();
        running = nullptr;
    }
    static const void *awaiting(void *, const void *coroutine)
    {
        auto of = handle::from_address(const_cast<void *>(coroutine));
        return of.promise().awaited_by.address();
    }
    static thread_local handle running;

private:
    handle own;
};
thread_local task::handle task::running;

struct expiry { // asio resumes what awaits the timer
    bool await_ready() { return false; }
    void await_suspend(std::coroutine_handle<> by)
    {
        waiting = by;
        timer.async_wait([by](const asio::error_code &) { task::resume(by); });
    }
    void await_resume() { waiting = nullptr; }
    static std::coroutine_handle<> waiting;
};
std::coroutine_handle<> expiry::waiting;

__attribute__((noinline)) static void print_backtrace(const void *coroutine, uint32_t flags)
{
    sframe_backtrace_options options = SFRAME_BACKTRACE_OPTIONS_INIT;
    unsigned char stack[512];
    char command[64];

    options.flags = SFRAME_BACKTRACE_ASYNC | flags;
    options.coroutine = coroutine;
    options.continuation = task::awaiting;
    const ssize_t size = sframe_backtrace_cbf(stack, sizeof stack, &options, nullptr);
    std::puts(flags ? "waits:" : "runs:");
    std::fflush(stdout);
    std::snprintf(command, sizeof command, "sfb symbolize --pid %d", getpid());
    FILE *sfb = popen(command, "w");
    if (!sfb || size < 0 || std::fwrite(stack, 1, size, sfb) == 0 || pclose(sfb) != 0)
        std::puts("no backtrace");
}

static task read_block()
{
    co_await expiry();
    print_backtrace(task::running.address(), 0);
}

static task load_table()
{
    co_await read_block();
}

static task serve()
{
    co_await load_table();
}

int main()
{
    task server = serve();

    server.start();
    loop.poll(); // until all wait
    print_backtrace(expiry::waiting.address(), SFRAME_BACKTRACE_SUSPENDED);
    timer.cancel();
    loop.run();
}
