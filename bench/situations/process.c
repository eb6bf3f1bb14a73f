/* The first and the second walk of a process: one that is started for it. */
#include "situations/situation.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#include "timing.h"

enum { PROCESSES_MAX = 101 };

int process_first(const char *set_name, const char *depth_text, const char *peer_name)
{
    enum chain_set set = strcmp(set_name, "fp") == 0 ? CHAIN_FP : CHAIN_NOFP;
    int depth = atoi(depth_text); /* NOLINT(cert-err34-c): written by run() below */
    const struct peer *peer = peers;
    uint64_t ns[2];

    while (peer->id < PEER_NOTHING && strcmp(peer->name, peer_name) != 0) {
        peer++;
    }
    if (peers_load() != 0 || chain_load(set) != 0) {
        return 1;
    }
    for (int i = 0; i < 2; i++) {
        peer_batch(&situation_batch, peer, depth, 0, 1);
        chain_enter(chain_whole(set), peer->leaf, &situation_batch);
        ns[i] = timing_less_clock(situation_batch.ns);
    }
    /* Afterwards: the reference would have been the first walk. */
    if (verify_learn(set) != 0 || verify_chain(peer, "process", set, depth) != 0) {
        return 1;
    }
    printf("%llu %llu\n", (unsigned long long)ns[0], (unsigned long long)ns[1]);
    return 0;
}

static void start(int out, enum chain_set set, int depth, const struct peer *peer)
{
    char number[16];

    snprintf(number, sizeof number, "%d", depth);
    dup2(out, STDOUT_FILENO);
    execl("/proc/self/exe", "bench", "--first", chain_loaded(set)->name, number, peer->name,
          (char *)NULL);
    _exit(127);
}

static int run(const struct peer *peer, enum chain_set set, int depth, double *first,
               double *second)
{
    int ends[2];
    int status = -1;
    int found = 0;
    FILE *in;
    pid_t id;

    if (pipe(ends) != 0 || (in = fdopen(ends[0], "r")) == NULL) {
        perror("bench: pipe");
        return -1;
    }
    fflush(stdout);
    id = fork();
    if (id == 0) {
        start(ends[1], set, depth, peer);
    }
    close(ends[1]);
    found = fscanf(in, "%lf %lf", first, second); /* NOLINT(cert-err34-c): ours */
    fclose(in);
    waitpid(id, &status, 0);
    *first /= depth;
    *second /= depth;
    return status == 0 && found == 2 ? 0 : -1;
}

static int measure(const struct peer *peer, enum chain_set set, int depth, unsigned processes)
{
    double first[PROCESSES_MAX];
    double second[PROCESSES_MAX];

    for (unsigned i = 0; i < processes; i++) {
        if (run(peer, set, depth, &first[i], &second[i]) != 0) {
            return -1;
        }
    }
    record_at("process-1", set, depth, peer->name, timing_spread(first, processes).median);
    record_at("process-2", set, depth, peer->name, timing_spread(second, processes).median);
    return 0;
}

int situation_process(const struct effort *effort)
{
    unsigned processes = effort->smoke ? 1 : 3;

    for (enum chain_set s = CHAIN_FP; s <= CHAIN_NOFP; s++) {
        for (unsigned d = effort->smoke ? 1 : 0; d < (effort->smoke ? 2 : DEPTHS); d++) {
            for (unsigned p = 0; p < PEER_NOTHING; p++) {
                if (p != PEER_UNW_UNCACHED && peer_works(&peers[p], s) &&
                    measure(&peers[p], s, depths[d], processes) != 0) {
                    return -1;
                }
            }
        }
    }
    return 0;
}
