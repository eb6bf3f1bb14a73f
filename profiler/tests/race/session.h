/* A session in one program: the shared memory, and the recorder that drains it. The agent's side is the test's. */
#ifndef RACE_SESSION_H
#define RACE_SESSION_H

#include <stdint.h>

#include "profiler/collector/rings/drain.h"
#include "profiler/protocol/shared.h"

/* Memory of a session, which the agent of this process has: sfb_agent knows it. */
struct sfb_shared *session_begin(enum sfb_shared_mode mode);

/* Reads once what is there. */
void session_drain(void);

/* Ends it. @return what was recorded */
struct sfb_recorder_totals session_end(void);

#endif
