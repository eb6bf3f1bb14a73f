// Exceptions, thrown through frames of several kinds: while one is under way the unwinder of libgcc
// runs, and leaves its own frames by a way of its own (eh_return).
#include <algorithm>
#include <stdexcept>
#include <string>
#include <vector>

extern "C" int awkward_cxx(int n);

static volatile int sink;

namespace
{

struct Guard {
    ~Guard()
    {
        sink = sink + 1;
    }
};

__attribute__((noinline)) int thrower(int n)
{
    Guard guard;

    if (n % 2)
        throw std::runtime_error("odd: " + std::to_string(n));
    throw n;
}

__attribute__((noinline)) int passes(int n)
{
    alignas(64) volatile char space[128];
    Guard guard;

    space[0] = static_cast<char>(n);
    return thrower(n) + space[0];
}

__attribute__((noinline)) int rethrows(int n)
{
    try {
        return passes(n);
    } catch (const std::exception &) {
        throw;
    }
}

} // namespace

int awkward_cxx(int n)
{
    std::vector<std::string> words = { "stack", "frame", "table", "row" };

    std::sort(words.begin(), words.end(),
              [](const std::string &a, const std::string &b) { return a.size() < b.size(); });
    try {
        rethrows(n);
    } catch (const std::exception &e) {
        return static_cast<int>(std::string(e.what()).size());
    } catch (int i) {
        return i + static_cast<int>(words[0].size());
    }
    return 0;
}
