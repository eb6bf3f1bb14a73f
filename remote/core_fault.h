/* Why a core file cannot be read: one line, as struct sfb_remote_fault has it. */
#ifndef REMOTE_CORE_FAULT_H
#define REMOTE_CORE_FAULT_H

#include <stdarg.h>
#include <stdbool.h>
#include <stdio.h>

#include "sfb/remote.h"

/* @return false */
__attribute__((format(printf, 2, 3))) static inline bool remote_core_fault(
    struct sfb_remote_fault *fault, const char *format, ...)
{
    va_list arguments;

    va_start(arguments, format);
    vsnprintf(fault->why, sizeof fault->why, format, arguments);
    va_end(arguments);
    return false;
}

#endif
