/* The end of a thread: behind the last of its pthread_key destructors. */
#ifndef SFB_RECORD_THREAD_END_H
#define SFB_RECORD_THREAD_END_H

#include <stdbool.h>

/* Once, before threads are made. */
bool sfb_thread_end_prepare(void);

/* Watches the end of the calling thread, where that takes no heap. Not for handlers. */
void sfb_thread_end_watch(void);

#endif
