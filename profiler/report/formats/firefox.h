/* The processed profile of Firefox's profiler (profiler.firefox.com, samply, profiler-cli): version 61. */
#ifndef PROFILER_REPORT_FORMATS_FIREFOX_H
#define PROFILER_REPORT_FORMATS_FIREFOX_H

#include <stdio.h>

#include "profiler/report/model/model.h"

/*
 * A thread each, with its samples by time, weighted by CPU time in ms; what was never sampled is at its end. All share
 * one table of stacks. Each process is a marker of its first thread. Times are ms from the beginning of the first recording,
 * meta.startTime.
 *
 * @return false: no memory
 */
bool report_firefox_write(FILE *to, const struct report_model *model);

#endif
