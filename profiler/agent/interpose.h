/* Marks the interposed functions: besides its own names, the agent exports only these. */
#ifndef PROFILER_AGENT_INTERPOSE_H
#define PROFILER_AGENT_INTERPOSE_H

#define SFB_INTERPOSED __attribute__((visibility("default")))

#endif
