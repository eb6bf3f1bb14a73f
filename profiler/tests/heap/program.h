/* What the program of the tests can do: each word on its command line is one of these. */
#ifndef HEAP_PROGRAM_H
#define HEAP_PROGRAM_H

void program_calls(void);
void program_loop(int times);
void program_deep(int depth);
void program_round(int thread_count, int time_count);
void program_one_by_one(int count); /* threads, each with a block of 777 bytes */
void program_ends(void);
void program_signals(void);
void program_fork(void);
void program_vfork(const char *self);
void program_maps(void);
void program_errno(void);
void program_full(int count);
void program_sampled(int times);
void program_libraries(void);

#endif
