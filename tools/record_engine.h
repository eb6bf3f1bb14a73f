/* By what a program is sampled: chosen before it starts. */
#ifndef RECORD_ENGINE_H
#define RECORD_ENGINE_H

#include "record.h"
#include "recorder/events.h"

struct record_engine {
    uint32_t engine; /* enum sfb_recording_engine */
    uint32_t agents; /* bit mask of those that agents may use */
    bool perf;       /* events are opened here */
    struct sfb_recorder_events events;
    char text[160]; /* why this one; "" */
};

/* @return false after a complaint: the one asked for is refused */
bool record_engine_choose(struct record_engine *out, const struct record_request *request);

/* A name of --engine. @return false: there is none */
bool record_engine_parse(const char *name, uint32_t *out);

#endif
