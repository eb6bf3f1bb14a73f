/*
 * The benchmark: sframe-backtrace and its peers on the same stacks.
 *
 *     bench [--quick | --smoke] [--only SITUATION] [--records FILE] [STACKS.txt ...]
 *
 * Several runs, each a process of its own (`bench --once ...`) with its own addresses of
 * everything, which writes records (situation, column, row, value) on its standard output. What
 * they say becomes tables here, together with the records of a file that a script made.
 *
 * Exit status: 0 measured, whatever the figures are; 1 a peer saw other frames than the reference
 * or something is missing; 2 usage.
 */
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

#include "fibers.h"
#include "machine.h"
#include "results.h"
#include "situations/situation.h"
#include "table.h"

static int usage(void)
{
    fprintf(stderr,
            "usage: bench [--quick | --smoke] [--only SITUATION] [--records FILE] [STACKS ...]\n"
            "       bench --walks SITUATION SET DEPTH PEER COUNT\n");
    return 2;
}

/* What the arguments ask for. */
struct request {
    bool once, quick, smoke;
    const char *only;    /* NULL: all */
    const char *records; /* NULL: none */
    char **stacks;
};

static int prepare(void)
{
    if (peers_load() != 0) {
        return -1;
    }
    for (enum chain_set s = 0; s < CHAIN_MANY; s++) {
        if (chain_load(s) != 0 || verify_learn(s) != 0) {
            return -1;
        }
    }
    return 0;
}

/* @return 0, or -1: said on stderr */
static int run_apart(const struct situation *situation, const struct effort *effort)
{
    int status = -1;
    pid_t id;

    fflush(stdout);
    id = fork();
    if (id == 0) {
        status = situation->measure(effort);
        fflush(stdout);
        _exit(status == 0 ? 0 : 1);
    }
    waitpid(id, &status, 0);
    if (WIFSIGNALED(status)) {
        fprintf(stderr, "bench: %s: killed by signal %d\n", situation->name, WTERMSIG(status));
    } else if (status != 0) {
        fprintf(stderr, "bench: %s failed\n", situation->name);
    }
    return status == 0 ? 0 : -1;
}

static int run_once(const struct request *request)
{
    struct effort effort = {
        .smoke = request->smoke,
        .batches = request->quick ? 5 : 15,
        .batch_ns = request->quick ? 100000 : 400000,
        .stacks = request->stacks,
    };
    int status = 0;

    machine_pin();
    if (prepare() != 0) {
        return 1;
    }
    for (const struct situation *s = situations; s->name != NULL; s++) {
        if (s->measure != NULL && (request->only == NULL || strcmp(request->only, s->name) == 0) &&
            run_apart(s, &effort) != 0) {
            status = 1;
        }
    }
    return status;
}

/*
 * Starts this program again with the same arguments and --once in front, and reads its records. Its
 * stack may be as large as the 64 of `div` need.
 */
static int start_run(char **arguments)
{
    struct rlimit limit;
    int ends[2];
    int status = -1;
    FILE *in;
    pid_t id;

    if (pipe(ends) != 0 || (in = fdopen(ends[0], "r")) == NULL) {
        perror("bench: pipe");
        return -1;
    }
    id = fork();
    if (id == 0) {
        static char name[] = "bench", once[] = "--once";
        char *again[64] = { name, once };

        for (size_t i = 2; i < 63 && arguments[i - 2] != NULL; i++) {
            again[i] = arguments[i - 2];
        }
        if (getrlimit(RLIMIT_STACK, &limit) == 0 && limit.rlim_cur < 4 * FIBERS * FIBER_STACK) {
            limit.rlim_cur = 4 * FIBERS * FIBER_STACK;
            setrlimit(RLIMIT_STACK, &limit);
        }
        dup2(ends[1], STDOUT_FILENO);
        execv("/proc/self/exe", again);
        _exit(127);
    }
    close(ends[1]);
    results_read(in);
    fclose(in);
    waitpid(id, &status, 0);
    return status == 0 ? 0 : -1;
}

static int add_records(const char *path)
{
    FILE *in = fopen(path, "r");

    if (in == NULL) {
        perror(path);
        return -1;
    }
    results_read(in);
    fclose(in);
    return 0;
}

static int smoke(char **arguments)
{
    if (start_run(arguments) != 0) {
        return 1;
    }
    for (size_t i = 0; i < result_count; i++) {
        if (strcmp(results[i].column, "skipped") == 0) {
            printf("%s skipped: %s\n", results[i].situation, results[i].row);
        }
    }
    printf("every walk sees the frames of the reference, in every situation\n");
    return 0;
}

static int measure(const struct request *request, char **arguments)
{
    unsigned runs = request->quick ? 3 : 9;

    if (peers_load() != 0 || chain_load(CHAIN_FP) != 0 ||
        (request->records != NULL && add_records(request->records) != 0)) {
        return 1;
    }
    machine_describe(stdout);
    printf("runs       %u, each a process of its own\n\n", runs);
    fflush(stdout);
    for (unsigned r = 0; r < runs; r++) {
        fprintf(stderr, "run %u of %u\n", r + 1, runs);
        if (start_run(arguments) != 0) {
            return 1;
        }
    }
    tables_print();
    walks_print();
    targets_print();
    return 0;
}

static bool is_measured(const char *name)
{
    for (const struct situation *s = situations; s->name != NULL; s++) {
        if (strcmp(s->name, name) == 0 && s->measure != NULL) {
            return true;
        }
    }
    return false;
}

static int walks_of(const char *name, const struct counted *counted)
{
    const struct situation *s = situations;

    while (s->name != NULL && (strcmp(s->name, name) != 0 || s->measure == NULL)) {
        s++;
    }
    if (s->name == NULL || prepare() != 0) {
        return 1;
    }
    return s->measure(&(struct effort){ .counted = counted }) == 0 ? 0 : 1;
}

/* call and div load their set alone, and have nothing else in the way. */
static int walks(char **a)
{
    enum chain_set set = strcmp(a[1], "fp") == 0 ? CHAIN_FP : CHAIN_NOFP;
    int depth = atoi(a[2]); /* NOLINT(cert-err34-c): a script's */
    unsigned count = (unsigned)strtoul(a[4], NULL, 10);
    const struct peer *peer = peers;

    while (peer->id < PEER_NOTHING && strcmp(peer->name, a[3]) != 0) {
        peer++;
    }
    if (strcmp(a[0], "call") != 0 && strcmp(a[0], "div") != 0) {
        return walks_of(a[0], &(struct counted){ peer, a[1], depth, count });
    }
    if (peers_load() != 0 || chain_load(set) != 0) {
        return 1;
    }
    if (strcmp(a[0], "div") == 0) {
        return div_walks(set, depth, peer, count);
    }
    run_chain(peer, set, depth, count);
    return 0;
}

int main(int argc, char **argv)
{
    struct request request = { .once = false };
    char **rest = argv + 1;

    if (argc == 7 && strcmp(argv[1], "--walks") == 0) {
        return walks(argv + 2);
    }
    if (argc == 5 && strcmp(argv[1], "--first") == 0) {
        return process_first(argv[2], argv[3], argv[4]);
    }
    for (; *rest != NULL && **rest == '-'; rest++) {
        if (strcmp(*rest, "--once") == 0) {
            request.once = true;
        } else if (strcmp(*rest, "--quick") == 0) {
            request.quick = true;
        } else if (strcmp(*rest, "--smoke") == 0) {
            request.smoke = true;
        } else if (strcmp(*rest, "--only") == 0 && rest[1] != NULL) {
            request.only = *++rest;
        } else if (strcmp(*rest, "--records") == 0 && rest[1] != NULL) {
            request.records = *++rest;
        } else {
            return usage();
        }
    }
    request.stacks = rest;
    if (request.only != NULL && !is_measured(request.only)) {
        fprintf(stderr, "bench: no situation %s\n", request.only);
        return 2;
    }
    if (request.once) {
        return run_once(&request);
    }
    return request.smoke ? smoke(argv + 1) : measure(&request, argv + 1);
}
