// A backtrace in a C++20 coroutine, with the coroutines that await it.
#include <sframe_backtrace.h>

#include <coroutine>
#include <cstdio>
#include <deque>
#include <exception>
#include <unistd.h>
#include <utility>

static std::deque<std::coroutine_handle<>> ready; // those that the loop in main() resumes

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

    void start() { ready.push_back(own); }
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

struct later { // the loop resumes what awaits it
    bool await_ready() { return false; }
    void await_suspend(std::coroutine_handle<> by) { ready.push_back(by); }
    void await_resume() {}
};

__attribute__((noinline)) static bool print_backtrace()
{
    sframe_backtrace_options options = SFRAME_BACKTRACE_OPTIONS_INIT;
    unsigned char stack[512];
    char command[64];

    options.flags = SFRAME_BACKTRACE_ASYNC;
    options.coroutine = task::running.address();
    options.continuation = task::awaiting;
    const ssize_t size = sframe_backtrace_cbf(stack, sizeof stack, &options, nullptr);
    std::snprintf(command, sizeof command, "sfb symbolize --pid %d", getpid());
    FILE *sfb = popen(command, "w");
    return sfb && std::fwrite(stack, 1, size, sfb) > 0 && pclose(sfb) == 0;
}

static task read_block()
{
    co_await later(); // the loop calls it then
    if (!print_backtrace())
        std::puts("no backtrace");
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

    for (server.start(); !ready.empty(); ready.pop_front())
        task::resume(ready.front());
}
