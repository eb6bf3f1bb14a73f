// All forms of operator new and delete, each with a size of its own; and what throws.
#include <cstdio>
#include <cstdlib>
#include <new>

static void keep(void *block)
{
    __asm__ volatile("" : : "r"(block) : "memory");
}

static int asked;

static void handler()
{
    if (++asked == 3)
        throw std::bad_alloc();
}

int main(int count, char **)
{
    const std::align_val_t page{ 4096 };
    volatile std::size_t too_much = static_cast<std::size_t>(1) << 62;
    void *block;
    bool caught = false;

    block = ::operator new(60001);
    keep(block);
    ::operator delete(block);
    block = ::operator new(60002, std::nothrow);
    keep(block);
    ::operator delete(block, std::nothrow);
    block = ::operator new(60003, page);
    if (reinterpret_cast<std::size_t>(block) % 4096 != 0)
        return 3;
    ::operator delete(block, page);
    block = ::operator new(60004, page, std::nothrow);
    keep(block);
    ::operator delete(block, page, std::nothrow);
    block = ::operator new[](60005);
    keep(block);
    ::operator delete[](block);
    block = ::operator new[](60006, std::nothrow);
    keep(block);
    ::operator delete[](block, std::nothrow);
    block = ::operator new[](60007, page);
    keep(block);
    ::operator delete[](block, page);
    block = ::operator new[](60008, page, std::nothrow);
    keep(block);
    ::operator delete[](block, page, std::nothrow);
    block = ::operator new(60009);
    keep(block);
    ::operator delete(block, static_cast<std::size_t>(60009));
    block = ::operator new[](60010);
    keep(block);
    ::operator delete[](block, static_cast<std::size_t>(60010));
    block = ::operator new(60011, page);
    keep(block);
    ::operator delete(block, static_cast<std::size_t>(60011), page);
    block = ::operator new[](60012, page);
    keep(block);
    ::operator delete[](block, static_cast<std::size_t>(60012), page);
    ::operator delete(nullptr);
    for (int i = 0; i < 1000; i++)
        ::operator delete(::operator new(static_cast<std::size_t>(i % 100 + 1)));
    if (count > 1)
        return 0; // to that allocator no memory is an abort
    try {
        keep(::operator new(too_much));
    } catch (const std::bad_alloc &) {
        caught = true;
    }
    if (!caught || ::operator new(too_much, std::nothrow) != nullptr)
        return 4;
    std::set_new_handler(handler);
    caught = false;
    try {
        keep(::operator new[](too_much));
    } catch (const std::bad_alloc &) {
        caught = true;
    }
    if (!caught || asked < 3)
        return 5;
    std::set_new_handler(nullptr);
    return 0;
}
