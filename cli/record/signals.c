#include <signal.h>
#include <stddef.h>

#include "cli/record/parts.h"

static volatile sig_atomic_t sent, typed, last;
static pid_t to;

/* The kernel sends what is typed at a terminal to the program, too. */
static void asked(int number, siginfo_t *info, void *context)
{
    (void)context;
    if (info->si_code > 0) {
        typed = typed + 1;
    } else {
        if (sent == 0 && to > 0)
            kill(to, number);
        sent = sent + 1;
    }
    last = number;
}

/* It only interrupts what waits. */
static void child_ended(int number)
{
    (void)number;
}

void record_signals_catch(pid_t program)
{
    static const int ends[] = { SIGINT, SIGTERM, SIGHUP, SIGQUIT };
    struct sigaction action = { .sa_sigaction = asked, .sa_flags = SA_SIGINFO }, before;

    to = program;
    sigemptyset(&action.sa_mask);
    for (size_t i = 0; i < sizeof ends / sizeof *ends; i++)
        /* What is ignored, by nohup for example, stays so. */
        if (sigaction(ends[i], NULL, &before) == 0 && before.sa_handler != SIG_IGN)
            sigaction(ends[i], &action, NULL);
    action = (struct sigaction){ .sa_handler = child_ended };
    sigaction(SIGCHLD, &action, NULL);
    signal(SIGPIPE, SIG_IGN);
    signal(SIGXFSZ, SIG_IGN); /* a file size limit then fails write() as a full disk does */
}

unsigned record_signals_sent(void)
{
    return (unsigned)sent;
}

unsigned record_signals_typed(void)
{
    return (unsigned)typed;
}

int record_signals_last(void)
{
    return last;
}
