/* How JSON stands in a page: as it is, or packed where it is large. Both are streams onto the page. */
#ifndef PROFILER_REPORT_PAGE_HTML_PACK_H
#define PROFILER_REPORT_PAGE_HTML_PACK_H

#include <stdio.h>

/*
 * JSON as text of a <script>: each '<' is written as \u003c, so that no name ends the element or begins a comment.
 *
 * @param to  borrowed until what is returned is closed; it keeps its own errors
 * @return NULL: no memory
 */
FILE *html_plain_open(FILE *to);

/* JSON packed with gzip, as base64. @param to, @return as above; fclose() ends the text */
FILE *html_packed_open(FILE *to);

#endif
