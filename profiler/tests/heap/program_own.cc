// A program, or a library of it, with functions of its own that give out memory, and none that others know.
#include <cstddef>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <malloc.h>
#include <new>

#if OWN_NEW || OWN_MALLOC
alignas(16) static unsigned char pool[1 << 22];
static std::size_t used = 16;

// What stands before a block is nothing that an allocator knows.
static void *take(std::size_t size)
{
    unsigned char *at = pool + used;

    used += (size + 47) & ~static_cast<std::size_t>(15);
    std::memset(at, 0xbe, 16);
    std::memcpy(at, &size, sizeof size);
    return used < sizeof pool ? at + 16 : nullptr;
}

static void give(void *block)
{
    if (block && reinterpret_cast<std::uintptr_t>(block) - reinterpret_cast<std::uintptr_t>(pool) >=
                     sizeof pool)
        std::_Exit(9); // it is another's
}
#endif

#if OWN_NEW
void *operator new(std::size_t size)
{
    return take(size);
}

void operator delete(void *block) noexcept
{
    give(block);
}
#endif

#if OWN_MALLOC
extern "C" {
void *malloc(std::size_t size)
{
    return take(size);
}

void *calloc(std::size_t count, std::size_t size)
{
    return take(count * size);
}

void *realloc(void *block, std::size_t size)
{
    void *moved = take(size);
    std::size_t before = 0;

    give(block);
    if (block)
        std::memcpy(&before, static_cast<unsigned char *>(block) - 16, sizeof before);
    if (before > 0)
        std::memcpy(moved, block, before < size ? before : size);
    return moved;
}

void free(void *block)
{
    give(block);
}
}
#endif

#if !OWN_LIBRARY
extern "C" void *reallocarray(void *block, std::size_t count, std::size_t size) noexcept;

static void keep(void *block)
{
    __asm__ volatile("" : : "r"(block) : "memory");
}

int main()
{
    void *block = std::malloc(10);

    block = reallocarray(block, 10, 10);
    keep(block);
    std::free(block);
    for (std::size_t size = 1; size < 2000; size += 100) {
        block = ::operator new(size);
        keep(block);
        ::operator delete(block, size);
        block = ::operator new[](size);
        keep(block);
        ::operator delete[](block, size);
        block = ::operator new(size, std::nothrow);
        keep(block);
        ::operator delete(block);
        block = ::operator new[](size, std::nothrow);
        keep(block);
        ::operator delete[](block, std::nothrow);
    }
#if !OWN_MALLOC
    // The C library's usable sizes are 8 more than a multiple of 16: of a block with a tail the program has 4 less.
    block = std::malloc(30);
    if (std::getenv("SFB_HEAP_LIVE") && malloc_usable_size(block) % 8 != 4)
        return 8;
    std::free(block);
#endif
    return 0;
}
#endif
