// All forms of new and delete, and 1,234 blocks of 100 bytes that live when the signal comes.
#include <csignal>
#include <cstdlib>
#include <memory>
#include <new>
#include <vector>

struct alignas(256) Wide {
    char bytes[256];
};

__attribute__((noinline)) static char *pearls()
{
    return new char[100];
}

int main(int argc, char **)
{
    std::vector<char *> kept;

    for (int i = 0; i < 20000; i++) {
        delete new int(i);
        delete[] new long[static_cast<size_t>(i % 300 + 1)];
        delete new Wide;
        delete[] new Wide[static_cast<size_t>(i % 3 + 1)];
        ::operator delete(::operator new(static_cast<size_t>(i % 200), std::nothrow), std::nothrow);
        ::operator delete(::operator new(24), static_cast<size_t>(24));
        ::operator delete(::operator new(640, std::align_val_t(128)), static_cast<size_t>(640), std::align_val_t(128));
        ::operator delete[](::operator new[](48), static_cast<size_t>(48));
    }
    if (argc == 1) // mimalloc ends the program
        try {
            static_cast<void>(::operator new(static_cast<size_t>(-1) / 4));
            return 2;
        } catch (const std::bad_alloc &) {
        }
    for (int i = 0; i < 1234; i++)
        kept.push_back(pearls());
    raise(SIGUSR2);
    for (char *p : kept)
        delete[] p;
    return 0;
}
