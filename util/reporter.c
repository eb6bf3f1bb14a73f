#include "util/reporter.h"

#include <stdarg.h>
#include <stdio.h>

void reporter_say(const struct reporter *reporter, enum reported kind, const char *format, ...)
{
    char line[REPORTER_LINE];
    va_list arguments;

    if (!reporter->take)
        return;
    va_start(arguments, format);
    vsnprintf(line, sizeof line, format, arguments);
    va_end(arguments);
    reporter->take(reporter->user, kind, line);
}
