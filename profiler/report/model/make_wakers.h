/* What ended waits: other threads, which woke the waiting one up, interrupts, other processes. */
#ifndef PROFILER_REPORT_MODEL_MAKE_WAKERS_H
#define PROFILER_REPORT_MODEL_MAKE_WAKERS_H

#include "profiler/report/model/maker.h"

/* Begins with the maker's recording, after report_causes_begin(). */
void report_wakers_begin(struct report_maker *maker);

/*
 * Adds a wait, or a part of one, to what ended it.
 *
 * @param wait    of the maker's recording
 * @param in      its stack, with what it waited in
 * @param weight  the wanted part
 * @return false: no memory
 */
bool report_waker_add(struct report_maker *maker, const struct report_wait *wait, uint32_t in,
                      uint64_t weight);

#endif
