/* sfb report --open: the page in the user's browser. */
#ifndef CLI_REPORT_OPEN_PAGE_H
#define CLI_REPORT_OPEN_PAGE_H

#include "cli/report/request.h"

/* Where the page is not asked for as a file, it gets one of its own: below $TMPDIR or /tmp, for this user alone. @return false after a complaint */
bool report_open_prepare(struct report_request *request, enum tool_exit *exit_status);

/* Starts $BROWSER, else xdg-open, and does not wait for it. The page's path is printed on stderr. @return TOOL_USAGE after a complaint */
enum tool_exit report_open_page(struct report_request *request);

#endif
