/* Recording of the heap begins in a process, goes on in a child of fork(), and ends. */
#ifndef SFB_RECORD_HEAP_PROCESS_H
#define SFB_RECORD_HEAP_PROCESS_H

/*
 * Looks whether `sfb record` is waiting for the heap of this process. Once; before the C library is ready it does
 * nothing yet. Called by the first allocation: constructors of libraries run before ours.
 */
void sfb_heap_process_look(void);

#endif
