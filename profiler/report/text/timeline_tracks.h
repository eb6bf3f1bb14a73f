/* What each thread did in each part of a span of time. */
#ifndef PROFILER_REPORT_TEXT_TIMELINE_TRACKS_H
#define PROFILER_REPORT_TEXT_TIMELINE_TRACKS_H

#include "profiler/report/model/model.h"

/* Sleep has a state for each kind of call: the page has the same ones (profiler/page/src/states.js). */
enum report_track_state {
    TRACK_RUNNING,
    TRACK_RUNNABLE,
    TRACK_LOCK, /* asleep in futex */
    TRACK_POLL,
    TRACK_IO,
    TRACK_SLEEP,
    TRACK_ASLEEP, /* in another call */
    TRACK_DISK,
    TRACK_FAULT,
    TRACK_STOPPED,
    TRACK_SHORT, /* short waits, which no look has seen */
    TRACK_STATES
};

struct report_track {
    uint32_t member; /* index */
    uint64_t total;  /* ns */
};

struct report_tracks {
    uint64_t from, to; /* ns from the beginning of recordings */
    unsigned columns;
    struct report_track *all; /* with most time first */
    size_t count, shown;
    uint64_t *cells; /* of shown ones: [track][column][state], in ns */
};

/* @param rows  tracks that are shown; 0: all. @return false: no memory; to be freed in any case */
bool report_tracks_make(struct report_tracks *out, const struct report_model *model,
                        unsigned columns, uint64_t rows);

/* @return when a column begins; of the one behind the last, when that ends */
uint64_t report_tracks_begin(const struct report_tracks *tracks, unsigned column);

/* @return the state that most of a column was spent in; TRACK_STATES: none */
unsigned report_tracks_state(const struct report_tracks *tracks, size_t track, unsigned column);

/* @return the state of a row's threads */
unsigned report_track_state_of(const struct report_model *model, const struct report_row *row);

void report_tracks_free(struct report_tracks *tracks);

#endif
