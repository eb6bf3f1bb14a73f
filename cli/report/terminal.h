/* What standard output is: how wide, in which colours. */
#ifndef CLI_REPORT_TERMINAL_H
#define CLI_REPORT_TERMINAL_H

#include "profiler/report/text/style.h"

enum report_when { REPORT_AUTO, REPORT_ALWAYS, REPORT_NEVER };

/*
 * On a terminal lines are cut to its width, and there are bars and colours; no colours if NO_COLOR is set, or TERM is
 * dumb. Elsewhere text is plain.
 *
 * @param colour  REPORT_ALWAYS: colours and bars wherever it goes
 */
struct report_style report_terminal_style(enum report_when colour, const char *unit);

/* Whether standard output is a terminal that can do more than print lines. */
bool report_terminal_is(void);

#endif
