/* Waits in a signal handler, for scripts that compare stacks through the kernel's frame. */
#include <signal.h>
#include <unistd.h>

static volatile int sink;
static char byte;

__attribute__((noinline)) static void handle(int number)
{
    sink = number + (int)read(STDIN_FILENO, &byte, 1);
}

__attribute__((noinline)) static int inner(int depth)
{
    if (depth > 0)
        return inner(depth - 1) + 1;
    return raise(SIGUSR1);
}

int main(void)
{
    signal(SIGUSR1, handle);
    return inner(5) + sink;
}
