/* What is in a recording, summed up: for tests of who writes it. */
#ifndef RECORD_TOOL_CONTENTS_H
#define RECORD_TOOL_CONTENTS_H

#include <stdbool.h>
#include <stdint.h>

#include "sfb/recording.h"

enum { CONTENTS_PROCESSES = 4096, CONTENTS_TEXT = 4096 };

struct contents_process {
    uint32_t id, parent, pid, how, end, status;
    bool ended;
    uint64_t cpu, weight, unsampled, samples;
    char program[256];
};

struct contents {
    struct sfb_recording_health health;
    uint32_t engine;
    char engine_text[256];
    char reason[512];
    uint64_t samples, weight;       /* of all samples */
    uint64_t waited;                /* ns, of all waits */
    uint64_t threads, rests;        /* CPU time of threads that no sample has */
    uint64_t unsampled;             /* of processes, beside that */
    uint64_t stacks, modules, maps; /* maps: of code made at run time */
    uint64_t complete;              /* samples whose stack ends where it has to */
    uint64_t engines[8];            /* samples by engine */
    uint64_t lost[SFB_LOSS_COUNT];
    uint64_t marks, pauses;
    char last_mark[128];
    uint64_t last_mark_time;
    char texts[CONTENTS_TEXT]; /* of losses, a line each */
    uint32_t process_count;
    struct contents_process process[CONTENTS_PROCESSES];
};

/* Reads a recording. @return NULL, or what is wrong; the memory is the caller's, to be freed */
const char *contents_read(struct contents **out, const char *path);

#endif
