#include "sfb/frame.h"

const char *sfb_source_str(enum sfb_source source)
{
    switch (source) { /* no default: the compiler names the text we forget */
    case SFB_SOURCE_START: return "start";
    case SFB_SOURCE_SFRAME: return "sframe";
    case SFB_SOURCE_EH_FRAME: return "eh_frame";
    case SFB_SOURCE_SIGNAL: return "signal";
    case SFB_SOURCE_STUB: return "stub";
    case SFB_SOURCE_LIBUNWIND: return "libunwind";
    case SFB_SOURCE_FRAME_POINTER: return "frame-pointer";
    case SFB_SOURCE_UNPROVEN: return "unproven";
    case SFB_SOURCE_COUNT: break;
    }
    return "unknown source";
}
