/* The options of `sfb report` that are for heaps, and what they are good for. */
#ifndef REPORT_HEAP_H
#define REPORT_HEAP_H

#include <getopt.h>

#include "report/suppressions.h"
#include "report_inputs.h"
#include "report_request.h"

enum { REPORT_HEAP_OPTIONS = 12 };

/* Their names; the value of each is its index. */
extern const struct option report_heap_options[REPORT_HEAP_OPTIONS];

/* Takes one. @return false after a complaint */
bool report_heap_take(struct report_request *request, size_t option, enum tool_exit *exit_status);

/* All were taken: whether they go with each other. @return false after a complaint */
bool report_heap_judge(struct report_request *request, enum tool_exit *exit_status);

/* Whether the recordings are what the options are for. @return false after a complaint */
bool report_heap_fits(const struct report_request *request, const struct report_inputs *inputs);

/* Reads the file of --suppressions. @return false after a complaint; out is to be freed in any case */
bool report_heap_read_suppressions(const struct report_request *request,
                                   struct report_suppressions *out, enum tool_exit *exit_status);

#define REPORT_HEAP_USAGE                                                                          \
    "  --value V        what is shown: what was allocated, is live, was live at the peak, or\n"    \
    "                   is temporary (the next thing its thread did was to free it).\n"            \
    "                   Without it: live, and the peak where nothing lives\n"                      \
    "  --blocks         numbers of blocks, not of bytes\n"                                         \
    "  --leaks[=N]      N stacks of what lives at the end (10; 0: all)\n"                          \
    "  --suppressions FILE  without those that FILE names, as LeakSanitizer does: leak:PATTERN\n"  \
    "  --tail[=T]       without what came in the last part of the run: 10% or seconds\n"           \
    "  --at T           what was live T seconds after the start\n"                                 \
    "  --time A..B      what was live at B and not at A\n"                                         \
    "  --temporary[=N], --reallocs[=N], --slack[=N], --freed-elsewhere[=N]\n"                      \
    "                   N stacks of what is temporary; of realloc(); of what was more than\n"      \
    "                   asked for; of what another thread freed\n"                                 \
    "  --sizes          how many blocks are of which size\n"                                       \
    "  --lifetimes      how many live for how long\n"

#endif
