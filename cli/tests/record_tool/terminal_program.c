/* An interactive program, as interpreters are: a prompt, lines of commands, and Ctrl-C ends a command only. */
#include <errno.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

static volatile unsigned long sink;

static void say(const char *text)
{
    if (write(STDOUT_FILENO, text, strlen(text)) < 0)
        _exit(98);
}

static void interrupted(int number)
{
    (void)number;
    say("KeyboardInterrupt\n> ");
}

/* More than a look of a line that counts: it is drawn each 200 ms. */
static void burn(void)
{
    struct timespec t;

    do {
        for (unsigned i = 0; i < 100000; i++)
            sink += i;
        clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &t);
    } while (t.tv_sec == 0 && t.tv_nsec < 300000000);
}

int main(void)
{
    const struct sigaction action = { .sa_handler = interrupted };
    char line[64];

    sigaction(SIGINT, &action, NULL);
    say("> ");
    for (;;) {
        const ssize_t size = read(STDIN_FILENO, line, sizeof line - 1);

        if (size < 0 && errno == EINTR)
            continue;
        if (size <= 0)
            return 97;
        line[size] = '\0';
        if (strcmp(line, "quit\n") == 0)
            return 5;
        if (strcmp(line, "burn\n") == 0)
            burn();
        say("> ");
    }
}
