/*
 * seccomp: a filter may end the process at a system call that the agent makes and the program does not. So the recording
 * ends before that, in the whole process and its children; from then on the handler makes no system call.
 */
#ifndef PROFILER_AGENT_FILTER_H
#define PROFILER_AGENT_FILTER_H

/*
 * Called before a filter is set.
 *
 * @param mode  SECCOMP_SET_MODE_STRICT, SECCOMP_SET_MODE_FILTER, or another operation, which sets no filter
 * @param with  the filter; NULL: the call only tests for support, and fails
 */
void sfb_filter_look(unsigned long mode, const void *with);

#endif
