/* The environment of a recorded program. */
#ifndef PROFILER_COLLECTOR_PROCESSES_ENVIRONMENT_H
#define PROFILER_COLLECTOR_PROCESSES_ENVIRONMENT_H

/*
 * Makes it from the current one.
 *
 * LD_PRELOAD gets the agent, followed by its old libraries; a runtime of AddressSanitizer stays before the agent. A
 * runtime that the program is linked with is set to accept that (ASAN_OPTIONS). SFB_RECORD_SESSION leads to the memory.
 *
 * @param agent    path; without ':' and white space, which LD_PRELOAD cannot hold
 * @param session  text of struct sfb_recorder_session
 *
 * @return to be freed with sfb_recorder_environment_free(); NULL: no memory
 */
char **sfb_recorder_environment(char *const *from, const char *agent, const char *session);

void sfb_recorder_environment_free(char **environment);

#endif
