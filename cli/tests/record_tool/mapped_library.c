/* Work and a wait in a library that a program opens. */
#include <stdint.h>
#include <time.h>
#include <unistd.h>

enum { WORK = 300000000 }; /* ns of CPU time */

int late_wait(void);
void late_work(void);

static volatile unsigned spun;

void late_work(void)
{
    struct timespec t;
    uint64_t end = 0, now = 0;

    while (end == 0 || now < end) {
        clock_gettime(CLOCK_THREAD_CPUTIME_ID, &t);
        now = (uint64_t)t.tv_sec * 1000000000 + (uint64_t)t.tv_nsec;
        end = end == 0 ? now + WORK : end;
        for (unsigned i = 0; i < 20000; i++)
            spun += i;
    }
}

/* The call is no tail call: the function stays in the stack. */
int late_wait(void)
{
    char byte;

    return read(0, &byte, 1) == 1 ? 0 : 1;
}
