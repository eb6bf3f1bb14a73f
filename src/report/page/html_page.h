/* The page without its data: page/page.html, which the build makes an array of. */
#ifndef REPORT_HTML_PAGE_H
#define REPORT_HTML_PAGE_H

/* A zero ends it. */
extern const unsigned char html_page[];

#endif
