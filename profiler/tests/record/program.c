/* What the tests of the agent record: program MODE [ARGUMENT...]. It ends with status 0 if it saw what it had to. */
#include "profiler/tests/record/program.h"

#include <stdio.h>
#include <string.h>

int main(int count, char *words[])
{
    static const struct program_mode *const all[] = { program_ends,     program_threads,
                                                      program_children, program_signals,
                                                      program_calls,    program_filter,
                                                      program_libraries };

    for (size_t i = 0; count > 1 && i < sizeof all / sizeof *all; i++)
        for (const struct program_mode *m = all[i]; m->name; m++)
            if (strcmp(m->name, words[1]) == 0)
                return m->run(words + 2);
    fprintf(stderr, "program: no such mode\n");
    return 2;
}
