/* The tables of a profile for Firefox's profiler. */
#ifndef PROFILER_REPORT_FORMATS_FIREFOX_TABLES_H
#define PROFILER_REPORT_FORMATS_FIREFOX_TABLES_H

#include "profiler/report/formats/firefox_file.h"

/* Writes "libs" and "shared", of the stacks that were numbered. @return false: no memory */
bool report_firefox_put_tables(struct report_firefox *f);

#endif
