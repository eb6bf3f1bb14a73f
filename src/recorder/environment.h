/* The environment in which a program is recorded. */
#ifndef RECORDER_ENVIRONMENT_H
#define RECORDER_ENVIRONMENT_H

/*
 * Makes it from the one there is.
 *
 * LD_PRELOAD gets the agent; what was in it stays, behind it. A runtime of AddressSanitizer stays before it, and one that
 * a program is linked with is told not to mind (ASAN_OPTIONS). SFB_RECORD_SESSION says where the memory is.
 *
 * @param agent    path; without ':' and white space, which LD_PRELOAD cannot hold
 * @param session  as struct sfb_recorder_session has it
 *
 * @return to be freed with sfb_recorder_environment_free(); NULL: no memory
 */
char **sfb_recorder_environment(char *const *from, const char *agent, const char *session);

void sfb_recorder_environment_free(char **environment);

#endif
