/* Begins the recording of the heap in a process, continues it in a child of fork(), and ends it. */
#ifndef PROFILER_AGENT_HEAP_LIFECYCLE_H
#define PROFILER_AGENT_HEAP_LIFECYCLE_H

/*
 * Checks once whether `sfb record` waits for the heap of this process. Does nothing until the C library is ready. The
 * first allocation calls it: constructors of libraries run before ours.
 */
void sfb_heap_process_look(void);

#endif
