// C++ exceptions for the storm: thrown through frames with something to clean up, and rethrown.
#include <stdexcept>
#include <string>

extern "C" int storm_throw(int depth);

namespace {

struct cleanup {
    explicit cleanup(int &at) : count(at)
    {
    }
    ~cleanup()
    {
        count++;
    }
    cleanup(const cleanup &) = delete;
    cleanup &operator=(const cleanup &) = delete;
    int &count;
};

__attribute__((noinline)) int through(int depth, int &count)
{
    cleanup c(count);

    if (depth == 0)
        throw std::runtime_error(std::string(40, 'x')); // long enough for the heap
    if (depth % 5 == 0) {
        try {
            return through(depth - 1, count) + 1;
        } catch (const std::logic_error &) {
            return 0;
        } catch (...) {
            throw;
        }
    }
    return through(depth - 1, count) + 1;
}

} // namespace

// How many destructors ran: one a frame.
int storm_throw(int depth)
{
    int count = 0;

    try {
        through(depth, count);
    } catch (const std::exception &) {
        return count;
    }
    return -1;
}
