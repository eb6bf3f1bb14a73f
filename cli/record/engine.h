/* By what a program is sampled: chosen before it starts. */
#ifndef CLI_RECORD_ENGINE_H
#define CLI_RECORD_ENGINE_H

#include "cli/record/parts.h"
#include "profiler/collector/processes/perf_events.h"

struct record_engine {
    uint32_t engine; /* enum sfb_recording_engine */
    uint32_t agents; /* bit mask of the engines that agents may use */
    bool perf;       /* events are opened here */
    struct sfb_recorder_events events;
    char text[240]; /* why this one, and what would help; "" */
};

/* @return false after a complaint: the one asked for is refused */
bool record_engine_choose(struct record_engine *out, const struct record_request *request);

/*
 * The rate that is reached, where the engine cannot do what was asked for: timers go with the kernel's tick, and
 * events are slowed down where samples cost too much. @return 0: what was asked for
 */
uint32_t record_engine_reached(const struct record_engine *engine,
                               const struct record_request *request);

/* Says at the end if that is so, why, and what would help. */
void record_engine_tell(const struct record_engine *engine, const struct record_request *request);

/* Parses the argument of --engine. @return false: unknown name */
bool record_engine_parse(const char *name, uint32_t *out);

#endif
