/* The first and the second walk of a new thread. */
#include "situations/situation.h"

#include <pthread.h>
#include <stdio.h>

#include "timing.h"

enum { THREADS_MAX = 101 };

struct thread {
    const struct peer *peer;
    enum chain_set set;
    int depth;
    uint64_t first, second;
    int status;
};

static void *walk(void *argument)
{
    struct thread *thread = argument;
    uint64_t *ns[] = { &thread->first, &thread->second };

    for (int i = 0; i < 2; i++) {
        peer_batch(&situation_batch, thread->peer, thread->depth, 0, 1);
        chain_enter(chain_whole(thread->set), thread->peer->leaf, &situation_batch);
        *ns[i] = timing_less_clock(situation_batch.ns);
    }
    /* A third one: the verdict needs what the clock must not see. */
    thread->status = verify_chain(thread->peer, "thread", thread->set, thread->depth);
    return NULL;
}

static bool takes(unsigned peer, enum chain_set set)
{
    return peer != PEER_UNW_UNCACHED && peer_works(&peers[peer], set);
}

static int run(struct thread *thread)
{
    enum { STACK = 8 << 20 }; /* the default, where no limit was raised for `div` */

    pthread_attr_t attributes;
    pthread_t id;
    int status;

    pthread_attr_init(&attributes);
    pthread_attr_setstacksize(&attributes, STACK);
    status = pthread_create(&id, &attributes, walk, thread);
    pthread_attr_destroy(&attributes);
    if (status != 0) {
        fprintf(stderr, "bench: no thread\n");
        return -1;
    }
    pthread_join(id, NULL);
    return thread->status;
}

static int measure(const struct effort *effort, enum chain_set set, int depth)
{
    static double first[PEER_COUNT][THREADS_MAX];
    static double second[PEER_COUNT][THREADS_MAX];
    unsigned threads = effort->smoke                   ? 1
                       : effort->batches < THREADS_MAX ? effort->batches
                                                       : THREADS_MAX;

    for (unsigned i = 0; i < threads; i++) {
        for (unsigned p = 0; p < PEER_NOTHING; p++) {
            struct thread thread = { .peer = &peers[p], .set = set, .depth = depth };

            if (!takes(p, set)) {
                continue;
            }
            if (run(&thread) != 0) {
                return -1;
            }
            first[p][i] = (double)thread.first / depth;
            second[p][i] = (double)thread.second / depth;
        }
    }
    for (unsigned p = 0; p < PEER_NOTHING && !effort->smoke; p++) {
        if (takes(p, set)) {
            record_at("thread-1", set, depth, peers[p].name,
                      timing_spread(first[p], threads).median);
            record_at("thread-2", set, depth, peers[p].name,
                      timing_spread(second[p], threads).median);
        }
    }
    return 0;
}

int situation_thread(const struct effort *effort)
{
    for (enum chain_set s = CHAIN_FP; s <= CHAIN_NOFP; s++) {
        /* What only the first walk of the process does belongs to another table. */
        for (unsigned p = 0; p < PEER_NOTHING; p++) {
            if (takes(p, s) && verify_chain(&peers[p], "thread", s, depths[3]) != 0) {
                return -1;
            }
        }
        for (unsigned d = 0; d < DEPTHS; d++) {
            if (measure(effort, s, depths[d]) != 0) {
                return -1;
            }
        }
    }
    return 0;
}
