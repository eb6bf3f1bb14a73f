/* All threads of this process, whatever made them. */
#ifndef PROFILER_AGENT_CPU_OWN_TASKS_H
#define PROFILER_AGENT_CPU_OWN_TASKS_H

#include <sys/types.h>

/* Calls a function for each thread. Opens a descriptor for a moment; allocates nothing. Without /proc: no calls. */
void sfb_tasks(void (*each)(pid_t tid, void *with), void *with);

/* @return the state of a thread of this process in /proc: 'R' runs, 'Z' is a zombie; 0: unknown */
char sfb_task_state(pid_t tid);

#endif
