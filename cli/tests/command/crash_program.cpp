// crash_program.c as C++, and what only C++ has.
#include <cstdlib>
#include <stdexcept>
#include <string>

static void crash_throw();
static void crash_method();

#include "command/crash_program.c"

namespace
{

template <typename T> struct Holder {
    T *held;

    CRASH void put(T value)
    {
        *(volatile T *)held = value; // HERE: method
        sink++;
    }
};

} // namespace

static void crash_method()
{
    Holder<long> holder = { (long *)(uintptr_t)(0x10 + zero) };

    holder.put(1);
}

CRASH static void crash_throw()
{
    throw std::runtime_error(std::string("nobody catches it")); // HERE: throw
}
