/* The threads of this process, whoever made them. */
#ifndef SFB_RECORD_TASKS_H
#define SFB_RECORD_TASKS_H

#include <sys/types.h>

/* Calls a function for each. Opens a descriptor for a moment; takes no heap. Without /proc there are none. */
void sfb_tasks(void (*each)(pid_t tid, void *with), void *with);

/* The state of a thread of this process, as /proc has it: 'R' runs, 'Z' is a zombie. 0: not known */
char sfb_task_state(pid_t tid);

#endif
