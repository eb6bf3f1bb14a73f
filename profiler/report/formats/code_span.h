/* Where the code of a module was mapped: several formats have a memory map. */
#ifndef PROFILER_REPORT_FORMATS_CODE_SPAN_H
#define PROFILER_REPORT_FORMATS_CODE_SPAN_H

#include "profiler/report/model/model.h"

/*
 * Gives the mapping of the segment that is code. Only the module's file has its segments; without it, the mapping
 * begins at the first page that was asked for, with the offset that it has in most files.
 *
 * @param low, high  offsets in the module that it has to have: the first, and the byte behind the last
 */
struct report_code report_code_of(const struct report_model *model, uint32_t module, uint64_t low,
                                  uint64_t high);

#endif
