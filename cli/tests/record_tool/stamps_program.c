/* A thread that computes between its waits: looks stop it, and each such stop is a short wait of its own. */
#include <time.h>

enum { WAITS = 25, PART_NS = 40000000 };

static long cpu_ns(void)
{
    struct timespec t;

    clock_gettime(CLOCK_THREAD_CPUTIME_ID, &t);
    return t.tv_sec * 1000000000 + t.tv_nsec;
}

int main(void)
{
    for (unsigned i = 0; i < WAITS; i++) {
        const long before = cpu_ns();

        nanosleep(&(struct timespec){ .tv_nsec = PART_NS }, NULL);
        while (cpu_ns() - before < PART_NS)
            ;
    }
    return 0;
}
