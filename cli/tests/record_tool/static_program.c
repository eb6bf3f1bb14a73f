/* No agent can be loaded into it: it is linked with -static. */
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

static volatile unsigned long sink;

static void burn(long ms)
{
    struct timespec t;

    do {
        for (unsigned i = 0; i < 10000; i++)
            sink += i;
        clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &t);
    } while (t.tv_sec * 1000 + t.tv_nsec / 1000000 < ms);
}

int main(int argc, char **argv)
{
    if (argc > 2 && strcmp(argv[1], "burn") == 0)
        burn(atol(argv[2]));
    else if (argc > 1)
        sleep(4); /* the recorder looks each second for what it has seen before */
    return 5;
}
