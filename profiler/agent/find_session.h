/* Finds the recorder's shared memory by the text in the environment, maps it, and closes its descriptors. */
#ifndef PROFILER_AGENT_FIND_SESSION_H
#define PROFILER_AGENT_FIND_SESSION_H

#include "profiler/protocol/shared.h"

/*
 * @param text  of SFB_SHARED_ENVIRONMENT; NULL: not set
 * @param mode  what the agent records; sessions of another mode are rejected
 *
 * @return NULL: no live recorder, or its memory cannot be mapped; else sfb_agent.beacon is set, too
 */
struct sfb_shared *sfb_session_map(const char *text, enum sfb_shared_mode mode);

#endif
