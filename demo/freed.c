/*
 * A program that uses what it has freed, for profiler/docs/HEAP.md. Its crash report goes to freed.crash.
 *
 *     cc -g -O1 demo/freed.c $(pkg-config --cflags --libs sframe-backtrace) -o freed && ./freed
 */
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>

#include <sframe_backtrace_crash.h>

struct order {
    long *price;
    char article[56];
};

static long price = 7;
static struct order *waiting;

__attribute__((noinline)) static void take_order(void)
{
    waiting = malloc(sizeof *waiting);
    if (waiting != NULL)
        waiting->price = &price;
}

/* Frees the order, which is still waiting. */
__attribute__((noinline)) static void cancel_order(void)
{
    free(waiting);
    __asm__ volatile(""); /* else the call is a jump, and this frame is not on the stack */
}

/* It gets the memory of the order. */
__attribute__((noinline)) static char *write_note(void)
{
    char *note = malloc(sizeof *waiting);

    if (note != NULL)
        memset(note, 'x', sizeof *waiting);
    return note;
}

__attribute__((noinline)) static long bill(const struct order *order)
{
    return *order->price;
}

int main(void)
{
    struct sframe_backtrace_crash_options options = SFRAME_BACKTRACE_CRASH_OPTIONS_INIT;

    options.fd = open("freed.crash", O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0600);
    if (sframe_backtrace_install_crash_handler(&options) != SFB_OK)
        return 1;
    take_order();
    cancel_order();
    return write_note() != NULL && bill(waiting) == 0;
}
