/**
 * What a program with threads of its own tells the sampler.
 *
 * Both are weak in programs that may run without the sampler: call them only if they are not NULL.
 */
#ifndef SFB_SAMPLED_THREADS_H
#define SFB_SAMPLED_THREADS_H

/* Samples the calling thread from now on. The main thread is sampled without asking. */
__attribute__((weak, visibility("default"))) void sfb_sampler_thread_start(void);

/* Stops that; to be called by every thread that was started, before it ends. */
__attribute__((weak, visibility("default"))) void sfb_sampler_thread_stop(void);

#endif
