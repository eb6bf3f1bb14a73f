/* The threads of a profile for Firefox's profiler. */
#ifndef PROFILER_REPORT_FORMATS_FIREFOX_THREADS_H
#define PROFILER_REPORT_FORMATS_FIREFOX_THREADS_H

#include "profiler/report/formats/firefox_file.h"

/* Writes "threads", and numbers the stacks. @return false: no memory */
bool report_firefox_put_threads(struct report_firefox *f);

#endif
