#include "trials.h"

#include <setjmp.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/time.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include "support/limit.h"

enum { INJECTED = 100, COMPLAINTS_MAX = 20, BATCH = 10000 };

static const char *const verdicts[VERDICT_COUNT] = { "good",     "crashes",  "hangs",
                                                     "bad CBFs", "too long", "false ends",
                                                     "differing" };

/* --- Random numbers --------------------------------------------------------------------------- */

/* splitmix64 */
uint64_t random_next(struct random *r)
{
    uint64_t z = r->state += 0x9e3779b97f4a7c15u;

    z = (z ^ z >> 30) * 0xbf58476d1ce4e5b9u;
    z = (z ^ z >> 27) * 0x94d049bb133111ebu;
    return z ^ z >> 31;
}

struct random random_of(uint64_t seed, uint64_t trial)
{
    struct random r = { seed };
    uint64_t mixed = random_next(&r);

    r.state = mixed ^ (trial * 0xd1342543de82ef95u);
    random_next(&r);
    return r;
}

uint64_t random_below(struct random *r, uint64_t bound)
{
    return random_next(r) % bound;
}

/* --- Arguments -------------------------------------------------------------------------------- */

_Noreturn static void usage(const char *name)
{
    fprintf(stderr, "usage: %s [--seed N] [--first N] [--inject crash|hang|end|death] [TRIALS]\n",
            name);
    exit(2);
}

static enum inject read_inject(const char *what, const char *name)
{
    static const char *const names[] = { "nothing", "crash", "hang", "end", "death" };

    for (unsigned i = 0; i < sizeof names / sizeof *names; i++)
        if (strcmp(what, names[i]) == 0)
            return (enum inject)i;
    usage(name);
}

struct trials *trials_new(const char *name, uint64_t count, int argc, char **argv)
{
    struct trials *t =
        mmap(NULL, sizeof *t, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);

    if (t == MAP_FAILED)
        exit(2);
    *t = (struct trials){ .name = name, .seed = 1, .count = count, .batch = BATCH };
    for (int i = 1; i < argc; i++) {
        const char *value = i + 1 < argc ? argv[i + 1] : NULL;
        char *end;

        if (argv[i][0] != '-') {
            t->count = strtoull(argv[i], &end, 0);
            if (*end != '\0')
                usage(name);
            continue;
        }
        if (!value)
            usage(name);
        if (strcmp(argv[i], "--seed") == 0)
            t->seed = strtoull(value, NULL, 0);
        else if (strcmp(argv[i], "--first") == 0)
            t->first = strtoull(value, NULL, 0);
        else if (strcmp(argv[i], "--inject") == 0)
            t->inject = read_inject(value, name);
        else
            usage(name);
        i++;
    }
    t->next = t->first;
    return t;
}

/* --- The child -------------------------------------------------------------------------------- */

static struct trials *running;
static sigjmp_buf recover;
static uint64_t seen_by_timer;

static void on_crash(int number)
{
    (void)number;
    siglongjmp(recover, VERDICT_CRASH);
}

/* After a second of CPU time. */
static void on_time(int number)
{
    (void)number;
    if (seen_by_timer == running->next)
        siglongjmp(recover, VERDICT_HANG);
    seen_by_timer = running->next;
}

static void watch(void)
{
    static const int signals[] = { SIGSEGV, SIGBUS, SIGILL, SIGFPE, SIGTRAP, SIGABRT };
    struct sigaction action = { .sa_handler = on_crash, .sa_flags = SA_ONSTACK | SA_NODEFER };
    struct itimerval second = { { 1, 0 }, { 1, 0 } };

    for (unsigned i = 0; i < sizeof signals / sizeof *signals; i++)
        sigaction(signals[i], &action, NULL);
    action.sa_handler = on_time;
    action.sa_flags = SA_ONSTACK | SA_RESTART;
    sigaction(SIGPROF, &action, NULL);
    setitimer(ITIMER_PROF, &second, NULL);
}

static void inject(enum inject what)
{
    if (what == INJECT_CRASH)
        raise(SIGSEGV);
    if (what == INJECT_DEATH)
        raise(SIGKILL);
    while (what == INJECT_HANG) /* NOLINT(bugprone-infinite-loop): on purpose */
        ;
}

void trials_complain(struct trials *t, uint64_t trial, enum verdict verdict, const char *what)
{
    if (t->found[verdict]++ < COMPLAINTS_MAX)
        fprintf(stderr, "%s: %s: --seed %llu --first %llu 1: %s\n", t->name, verdicts[verdict],
                (unsigned long long)t->seed, (unsigned long long)trial, what);
}

_Noreturn void trials_batch(struct trials *t, trial_fn *trial)
{
    volatile uint64_t stop = t->first + t->count;
    int verdict;

    if (stop - t->next > t->batch)
        stop = t->next + t->batch;
    running = t;
    watch();
    verdict = sigsetjmp(recover, 1);
    if (verdict != 0)
        trials_complain(t, t->next - 1, (enum verdict)verdict, "recovered");
    while (t->next < stop) {
        uint64_t n = t->next++;
        struct random r = random_of(t->seed, n);

        if (t->inject && n == INJECTED)
            inject(t->inject);
        verdict = (int)trial(t, &r, n);
        if (verdict == VERDICT_GOOD)
            t->found[VERDICT_GOOD]++;
    }
    _exit(0);
}

/* --- The parent ------------------------------------------------------------------------------- */

/* @return how the child ended, as waitpid() says; killed where it stood still */
static int wait_for(const struct trials *t, pid_t child, bool *stuck)
{
    uint64_t seen = t->next;
    unsigned since = 0;
    int status = 0;

    *stuck = false;
    while (waitpid(child, &status, WNOHANG) == 0) {
        struct timespec pause = { 0, 5000000 };

        nanosleep(&pause, NULL); /* between two looks */
        since = seen == t->next ? since + 1 : 0;
        seen = t->next;
        if (since > HANG_SECONDS * 200) {
            kill(child, SIGKILL);
            waitpid(child, &status, 0);
            *stuck = true;
            break;
        }
    }
    return status;
}

bool trials_fork(struct trials *t)
{
    while (t->next < t->first + t->count) {
        bool stuck;
        pid_t child = fork();
        int status;

        if (child == 0)
            return true;
        if (child < 0) {
            perror("fork");
            exit(2);
        }
        status = wait_for(t, child, &stuck);
        if (stuck)
            trials_complain(t, t->next - 1, VERDICT_HANG, "killed");
        else if (WIFSIGNALED(status))
            trials_complain(t, t->next - 1, VERDICT_CRASH, strsignal(WTERMSIG(status)));
        else if (WEXITSTATUS(status) != 0)
            exit(WEXITSTATUS(status)); /* which has said why */
    }
    return false;
}

int trials_report(const struct trials *t)
{
    uint64_t bad = 0;

    printf("%s: %llu trials", t->name, (unsigned long long)t->count);
    for (unsigned v = VERDICT_GOOD + 1; v < VERDICT_COUNT; v++) {
        printf(", %llu %s", (unsigned long long)t->found[v], verdicts[v]);
        bad += t->found[v];
    }
    printf("\n");
    return bad == 0 && t->found[VERDICT_GOOD] == t->count ? 0 : 1;
}
