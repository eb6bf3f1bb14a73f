/* The memory that the recorder shares: found by what stands in the environment, mapped, its descriptors closed. */
#ifndef SFB_RECORD_SESSION_H
#define SFB_RECORD_SESSION_H

#include "recorder/shared.h"

/*
 * @param text  of SFB_SHARED_ENVIRONMENT; NULL: there is none
 * @param mode  what the agent records; a session of another mode is none
 *
 * @return NULL: no recorder lives, or its memory cannot be had; else sfb_agent.beacon is set, too
 */
struct sfb_shared *sfb_session_map(const char *text, enum sfb_shared_mode mode);

#endif
