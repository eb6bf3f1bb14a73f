/* A thread's exit: after the last of its pthread_key destructors. */
#ifndef PROFILER_AGENT_CPU_THREAD_END_H
#define PROFILER_AGENT_CPU_THREAD_END_H

#include <stdbool.h>

/* Called once, before threads are made. */
bool sfb_thread_end_prepare(void);

/* Watches the exit of the calling thread, if that needs no allocation. Not for handlers. */
void sfb_thread_end_watch(void);

#endif
