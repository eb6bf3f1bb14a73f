/* How the names of a module can be had on this machine. */
#ifndef REPORT_ADVICE_H_TOOLS
#define REPORT_ADVICE_H_TOOLS

#include "report/advisor.h"

extern const struct report_advisor report_local_advisor;

#endif
