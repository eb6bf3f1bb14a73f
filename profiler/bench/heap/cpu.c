/*
 * Runs a program and says what CPU time it took: it alone, not who records it.
 *
 *     cpu FILE [NAME=VALUE...] -- PROGRAM [ARGUMENT...]
 *
 * The environment is for the program. Writes "USER SYSTEM" to the file, in seconds. Exit status: the program's.
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

static double seconds(struct timeval t)
{
    return (double)t.tv_sec + (double)t.tv_usec / 1e6;
}

int main(int argc, char **argv)
{
    struct rusage used;
    int first = 2, status;
    FILE *out;
    pid_t pid;

    while (first < argc && strcmp(argv[first], "--") != 0)
        first++;
    if (first + 1 >= argc) {
        fprintf(stderr, "usage: cpu FILE [NAME=VALUE...] -- PROGRAM [ARGUMENT...]\n");
        return 2;
    }
    if ((pid = fork()) == 0) {
        for (int i = 2; i < first; i++)
            putenv(argv[i]);
        execvp(argv[first + 1], argv + first + 1);
        perror(argv[first + 1]);
        _exit(127);
    }
    if (pid == -1 || wait4(pid, &status, 0, &used) != pid) {
        perror("cpu");
        return 1;
    }
    if ((out = fopen(argv[1], "w")) == NULL) {
        perror(argv[1]);
        return 1;
    }
    fprintf(out, "%.6f %.6f\n", seconds(used.ru_utime), seconds(used.ru_stime));
    fclose(out);
    return WIFEXITED(status) ? WEXITSTATUS(status) : 128 + WTERMSIG(status);
}
