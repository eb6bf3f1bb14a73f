/*
 * seccomp: a filter of system calls may end the process at a call that the agent makes and the program does not.
 * Recording ends before, in the whole process and in its children; the handler then returns without any call.
 */
#ifndef SFB_RECORD_FILTER_H
#define SFB_RECORD_FILTER_H

/*
 * A filter is about to be set.
 *
 * @param mode  SECCOMP_SET_MODE_STRICT, SECCOMP_SET_MODE_FILTER, or another operation, which sets none
 * @param with  the filter; NULL: the call asks whether there are filters, and fails
 */
void sfb_filter_look(unsigned long mode, const void *with);

#endif
