/* Built with musl's compiler: no agent can be loaded into it. "status N" and "sleep" do as those of program.c. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

int main(int argc, char **argv)
{
    struct timespec cpu;

    if (argc > 2 && strcmp(argv[1], "status") == 0)
        return atoi(argv[2]);
    /* The recorder looks twice a second for what has no agent. */
    sleep(4);
    clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &cpu);
    printf("cpu %ld.%09ld\n", (long)cpu.tv_sec, cpu.tv_nsec);
    return 0;
}
