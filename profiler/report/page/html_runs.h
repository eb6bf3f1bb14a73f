/* Where recordings stand on the page's time line: by the clock, so that two runs are apart. */
#ifndef PROFILER_REPORT_PAGE_HTML_RUNS_H
#define PROFILER_REPORT_PAGE_HTML_RUNS_H

#include "profiler/report/model/model.h"

/*
 * Recordings of one time overlap, as they did. A pause between two is no longer than the mean recording is, or days apart
 * they would be lines. In a comparison the old ones and the new ones begin together.
 *
 * @return ns of each source's beginning, to be freed; NULL: no memory
 */
uint64_t *html_runs_begin(const struct report_model *model);

#endif
