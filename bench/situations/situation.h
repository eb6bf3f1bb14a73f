/**
 * A situation: circumstances under which all peers walk, one file each.
 *
 * Every situation runs in a process of its own, forked from one that has loaded the stacks and has
 * walked them with the reference peer only: none finds the caches as another left them.
 */
#ifndef BENCH_SITUATION_H
#define BENCH_SITUATION_H

#include "verify.h"

/* So many walks of one peer, which a tool counts the instructions of. */
struct counted {
    const struct peer *peer;
    const char *set;
    int depth;
    unsigned count;
};

/* How much is measured. */
struct effort {
    bool smoke;                    /* nothing: walks are verified only */
    unsigned batches;              /* of each peer in one run */
    uint64_t batch_ns;             /* the least that a batch lasts */
    char **stacks;                 /* files of recorded stacks, NULL behind the last */
    const struct counted *counted; /* nothing is measured or verified but done; NULL: no */
};

struct situation {
    const char *name;                            /* of its records, and of its table */
    const char *text;                            /* what it is */
    int (*measure)(const struct effort *effort); /* @return 0, or -1: said on stderr;
                                                    NULL: another one's records, or a script's */
};

/* In the order in which they are measured and printed; the last has no name. */
extern const struct situation situations[];

/* The depths of every table. */
enum { DEPTHS = 4 };
extern const int depths[DEPTHS];

/* One figure of this run, on standard output, for results.c. */
void record(const char *situation, const char *column, const char *row, double value);

/* The same in the column of a set and a depth: "nofp 128". */
void record_at(const char *situation, enum chain_set set, int depth, const char *row, double value);

/* Says on standard output why a situation is not measured here. */
void record_skipped(const char *situation, const char *why);

/*
 * How walks are run and verified: measure_walks() does the rest, for every set, depth and peer.
 */
struct method {
    const char *situation;
    enum chain_set sets[2];
    unsigned set_count;
    bool (*takes)(const struct peer *peer); /* NULL: every peer but `nothing` */
    /* Before a depth of a set; NULL: nothing to do. @return 0, or -1 */
    int (*begin)(enum chain_set set, int depth);
    /* Walks untimed at least once and compares. @return 0, or -1: said on stderr */
    int (*verify)(const struct peer *peer, enum chain_set set, int depth);
    /* @return ns of count walks */
    uint64_t (*run)(const struct peer *peer, enum chain_set set, int depth, unsigned count);
    int only_depth;    /* of all depths; 0: those of every table */
    unsigned count;    /* walks of a batch; 0: as many as last long enough */
    bool less_nothing; /* what the batches of `nothing` take is part of all, and taken off */
};

/*
 * Batches of all peers round-robin, for every set and depth; the median of each, in ns a frame, is
 * recorded. Every peer is verified before and afterwards.
 *
 * @return 0, or -1: said on stderr
 */
int measure_walks(const struct method *method, const struct effort *effort);

/* One batch for situations that need just one; the verified walk of a chain called here. */
extern struct batch situation_batch;
int verify_chain(const struct peer *peer, const char *situation, enum chain_set set, int depth);

/* One batch of a chain called here, one stack again and again. @return ns of count walks */
uint64_t run_chain(const struct peer *peer, enum chain_set set, int depth, unsigned count);

extern int situation_call(const struct effort *effort);
extern int situation_signal(const struct effort *effort);
extern int situation_div(const struct effort *effort);
extern int situation_div_fibers(const struct effort *effort);
extern int situation_div_context(const struct effort *effort);
extern int situation_vary(const struct effort *effort);
extern int situation_repeat(const struct effort *effort);
extern int situation_hash(const struct effort *effort);
extern int situation_cold(const struct effort *effort);
extern int situation_thread(const struct effort *effort);
extern int situation_process(const struct effort *effort);
extern int situation_pair(const struct effort *effort);
extern int situation_half(const struct effort *effort);
extern int situation_plugins(const struct effort *effort);
extern int situation_bare(const struct effort *effort);
extern int situation_many(const struct effort *effort);
extern int situation_lookup(const struct effort *effort);
extern int situation_encoder(const struct effort *effort);
extern int situation_stack(const struct effort *effort);
extern int situation_memory(const struct effort *effort);

/* A process started for it alone: `bench --first SET DEPTH PEER`. @return its exit status */
int process_first(const char *set, const char *depth, const char *peer);

/* For a tool that counts instructions: `bench --walks div SET DEPTH PEER COUNT`. */
int div_walks(enum chain_set set, int depth, const struct peer *peer, unsigned count);

#endif
