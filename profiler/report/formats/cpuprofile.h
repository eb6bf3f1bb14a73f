/* .cpuprofile: V8's format, for Chrome's DevTools, VS Code and others. */
#ifndef PROFILER_REPORT_FORMATS_CPUPROFILE_H
#define PROFILER_REPORT_FORMATS_CPUPROFILE_H

#include <stdio.h>

#include "profiler/report/model/model.h"

/*
 * The format has one thread: threads are functions below "(root)", and follow each other on one axis of CPU time, which ends
 * with what was never sampled. hitCount is CPU time in ns.
 *
 * @return false: no memory
 */
bool report_cpuprofile_write(FILE *to, const struct report_model *model);

#endif
