// The same with what C++ allocates by: new, strings, a vector, a map. Each run is the same.
#include <map>
#include <memory>
#include <string>
#include <vector>

#define KEPT __attribute__((noinline))

static std::vector<std::string> names;
static std::map<int, std::unique_ptr<long[]>> tables;
static char *volatile lost;

KEPT static void add_names(int count)
{
    for (int i = 0; i < count; i++)
        names.push_back("a name that is too long for what a string has in itself " + std::to_string(i));
}

KEPT static void add_tables(int count)
{
    for (int i = 0; i < count; i++)
        tables[i] = std::make_unique<long[]>(100 + i);
}

KEPT static void drop_tables(int count)
{
    for (int i = 0; i < count; i++)
        tables.erase(2 * i);
}

KEPT static size_t measure(int count)
{
    size_t sum = 0;

    for (int i = 0; i < count; i++)
        sum += std::string(100 + i % 50, 'x').size();
    return sum;
}

// Nobody frees it.
KEPT static void lose(size_t size)
{
    lost = new char[size];
    lost = nullptr;
}

int main()
{
    add_names(2000);
    add_tables(300);
    size_t sum = measure(5000);
    drop_tables(150);
    lose(12345);
    return sum == 0;
}
