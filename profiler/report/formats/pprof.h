/* pprof: the profile.proto of github.com/google/pprof, packed by gzip. */
#ifndef PROFILER_REPORT_FORMATS_PPROF_H
#define PROFILER_REPORT_FORMATS_PPROF_H

#include <stdio.h>

#include "profiler/report/model/model.h"

/*
 * A sample for each row, and for what was never sampled, so that the sum is all CPU time. Labels: `thread`, `tid`, `program`, `service`, and the recording's; where
 * there are several processes, `process` and `pid`, too. Marks are functions of no mapping: "[omitted]", "[truncated]",
 * "[no stack]", "[unsampled]". Of a comparison the old values are negative and labelled, as `pprof -diff_base` has them.
 *
 * Ids ascend from 1 in the order of the file. The first mapping is the program that took most time: readers take their
 * argument for it. Addresses are lookup addresses: a return address less 1. A model without any name has locations
 * without lines: readers then look for names themselves.
 *
 * @return false: no memory
 */
bool report_pprof_write(FILE *to, const struct report_model *model);

#endif
