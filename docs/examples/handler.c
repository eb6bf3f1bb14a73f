#include <sframe_backtrace.h>
#include <signal.h>
#include <unistd.h>

static void on_sample(int number, siginfo_t *info, void *context)
{
    struct sframe_backtrace_options options = { .size = sizeof options, .context = context };
    uint8_t stack[512];
    ssize_t size = sframe_backtrace_cbf(stack, sizeof stack, &options, NULL);

    (void)number, (void)info;
    if (size > 0)
        write(STDOUT_FILENO, stack, (size_t)size);
}

int main(void)
{
    struct sigaction action = { .sa_sigaction = on_sample, .sa_flags = SA_SIGINFO | SA_RESTART };
    sigaction(SIGPROF, &action, NULL);
    raise(SIGPROF);
}
