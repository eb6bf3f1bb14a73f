#include "shapes.h"

#include <cstdio>

int main(int argc, char **argv)
{
    std::string text;

    for (int i = 1; i < argc; i++)
        text += (i > 1 ? " " : "") + std::string(argv[i]);
    const shapes::collection all = shapes::read(text);

    std::printf("%s %g\n", shapes::largest(all).c_str(), shapes::total(all));
    return 0;
}
