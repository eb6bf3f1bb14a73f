/* The page without its data: profiler/page/page.html, which the build makes an array of. */
#ifndef PROFILER_REPORT_PAGE_HTML_PAGE_H
#define PROFILER_REPORT_PAGE_HTML_PAGE_H

/* A zero ends it. */
extern const unsigned char html_page[];

#endif
