/*
 * What runs for a time with many threads, and must not stand still: in a child, while the parent
 * watches whether it goes on.
 */
#ifndef TORTURE_STORMS_H
#define TORTURE_STORMS_H

#include <stdbool.h>

#ifdef __cplusplus
extern "C" {
#endif

/* What a self check does, to see that it is noticed. */
enum storm_inject { STORM_NOTHING, STORM_HANG, STORM_CRASH, STORM_END };

struct storm; /* shared by parent and child */

bool storm_over(const struct storm *s);
enum storm_inject storm_injected(const struct storm *s);
unsigned storm_seconds(const struct storm *s);

/* Said by every thread now and then. */
void storm_progress(struct storm *s);

/* A timer for the calling thread alone: SIGRTMIN, 1,000 times a second, or more often. */
void storm_timer(struct storm *s);
void storm_timer_stop(void);

/*
 * Takes [--inject hang|crash|end] [SECONDS], runs a storm for so long in a child, and waits for it:
 * one that crashes, is not over in time, or makes no progress for half a minute, has failed.
 *
 * @return for main()
 */
typedef int storm_fn(struct storm *s);
int storm_main(const char *name, storm_fn *run, int argc, char **argv);

#ifdef __cplusplus
}
#endif

#endif
