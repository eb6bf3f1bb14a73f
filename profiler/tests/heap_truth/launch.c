/*
 * Runs a program with more libraries behind those that are preloaded anyhow.
 *
 *     launch LIBRARY[:LIBRARY...] PROGRAM [ARGUMENT...]
 *
 * It allocates nothing, so that a recording of it has none but the program's blocks.
 */
#include <stddef.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

extern char **environ;

int main(int argc, char **argv)
{
    static char entry[16384] = "LD_PRELOAD=";
    static char *environment[4096];
    const char *before = getenv("LD_PRELOAD");
    size_t count = 0;

    if (argc < 3 || (before == NULL ? 0 : strlen(before)) + strlen(argv[1]) + 32 > sizeof entry)
        return 2;
    if (before != NULL) {
        strcat(entry, before);
        strcat(entry, ":");
    }
    strcat(entry, argv[1]);
    for (char **e = environ; *e != NULL && count + 2 < sizeof environment / sizeof *environment;
         e++)
        if (strncmp(*e, "LD_PRELOAD=", strlen("LD_PRELOAD=")) != 0)
            environment[count++] = *e;
    environment[count] = entry;
    execve(argv[2], argv + 2, environment);
    return 127;
}
