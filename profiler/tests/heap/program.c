#include "profiler/tests/heap/program.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

int main(int count, char *words[])
{
    const char *what = count > 1 ? words[1] : "";
    const int a = count > 2 ? atoi(words[2]) : 0, b = count > 3 ? atoi(words[3]) : 0;

    if (strcmp(what, "calls") == 0)
        program_calls();
    else if (strcmp(what, "loop") == 0)
        program_loop(a);
    else if (strcmp(what, "deep") == 0)
        program_deep(a);
    else if (strcmp(what, "round") == 0)
        program_round(a, b);
    else if (strcmp(what, "threads") == 0)
        program_one_by_one(a);
    else if (strcmp(what, "ends") == 0)
        program_ends();
    else if (strcmp(what, "signals") == 0)
        program_signals();
    else if (strcmp(what, "fork") == 0)
        program_fork();
    else if (strcmp(what, "vfork") == 0)
        program_vfork(words[0]);
    else if (strcmp(what, "maps") == 0)
        program_maps();
    else if (strcmp(what, "errno") == 0)
        program_errno();
    else if (strcmp(what, "full") == 0)
        program_full(a);
    else if (strcmp(what, "sampled") == 0)
        program_sampled(a);
    else if (strcmp(what, "libraries") == 0)
        program_libraries();
    else
        return 2;
    return 0;
}
