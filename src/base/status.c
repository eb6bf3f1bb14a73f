#include "sfb/status.h"
#include "sfb/frame.h"

const char *sfb_status_str(enum sfb_status status)
{
    switch (status) { /* no default: the compiler names the text we forget */
    case SFB_OK: return "ok";
    case SFB_END: return "end of stack";
    case SFB_NO_MODULE: return "no loaded module contains the pc";
    case SFB_NO_FDE: return "no function of .sframe covers the pc";
    case SFB_NO_FRE: return "the function has no .sframe row for the pc";
    case SFB_NO_SECTION: return "the module has no .sframe section";
    case SFB_NO_CFI: return ".eh_frame does not cover the pc";
    case SFB_NO_LIBUNWIND: return "libunwind is not available";
    case SFB_NO_CODE_PATTERN: return "code of no known pattern";
    case SFB_NO_FRAME_RECORD: return "no frame record at the frame pointer";
    case SFB_NO_SP: return "sp is not known behind a frame record";
    case SFB_NO_EH_FRAME: return "the module has no .eh_frame_hdr";
    case SFB_BAD_MAGIC: return "not an SFrame section";
    case SFB_BAD_VERSION: return "SFrame version not supported";
    case SFB_TRUNCATED: return "table ends past the section";
    case SFB_BAD_HEADER: return "header contradicts the specification";
    case SFB_BAD_FDE: return "function entry contradicts the specification";
    case SFB_BAD_FRE: return "row contradicts the specification";
    case SFB_BAD_ABI: return "section is for another machine";
    case SFB_BAD_ELF: return "program headers contradict themselves";
    case SFB_BAD_CFI: return ".eh_frame cannot be read";
    case SFB_NOT_EXPRESSIBLE: return ".eh_frame has an expression that no rule can state";
    case SFB_FRAME_LIMIT: return "frame limit reached";
    case SFB_BUFFER_FULL: return "buffer full";
    case SFB_WORK_LIMIT: return "budget of work used up";
    case SFB_UNREADABLE: return "stack word not readable";
    case SFB_NO_PROGRESS: return "caller's frame is not outside of its callee's";
    case SFB_MISALIGNED: return "stack pointer not aligned";
    case SFB_ZERO_RA: return "return address is zero";
    case SFB_NO_REGISTER: return "rule needs a register whose value is not known";
    case SFB_SIGNAL_LIMIT: return "too many signal frames";
    case SFB_UNWINDER_ERROR: return "libunwind refused the frame";
    case SFB_NOT_A_CALL:
        return "a return address into code that begins stacks, but not behind a call";
    case SFB_UNPROVEN_END: return "outermost frame reached by an unproven guess";
    case SFB_STACK_CUT: return "the copy of the stack ends before the stack does";
    case SFB_STACK_CHANGED: return "the stack has changed since the walk stopped";
    case SFB_BAD_CONTINUATION: return "a continuation is no coroutine";
    case SFB_CONTINUATION_CIRCLE: return "continuations form a circle";
    case SFB_BAD_ARGUMENT: return "bad argument";
    case SFB_BUFFER_TOO_SMALL: return "buffer too small for any backtrace";
    case SFB_NO_RESOURCE: return "the system refused it";
    case SFB_NO_SIZE: return "the size of a struct is not set";
    case SFB_CBF_EMPTY: return "no data";
    case SFB_CBF_VERSION: return "CBF version not supported";
    case SFB_CBF_SIZE: return "reserved word size";
    case SFB_CBF_RESERVED_OPCODE: return "reserved opcode";
    case SFB_CBF_TRUNCATED_OPERAND: return "data ends inside an operand";
    case SFB_CBF_TOO_WIDE: return "operand wider than the machine word";
    case SFB_CBF_RELATIVE_FIRST: return "first address is relative";
    case SFB_CBF_OMIT_ZERO: return "omit of zero frames";
    case SFB_CBF_REP_FIRST: return "rep without a frame before it";
    case SFB_CBF_REP_ZERO: return "rep of zero frames";
    case SFB_CBF_REP_LIMIT: return "too many repeats";
    case SFB_CBF_FRAME_LIMIT: return "too many frames";
    case SFB_CBF_NO_END: return "data ends without end or trunc";
    case SFB_CBF_TRAILING_DATA: return "data behind the end";
    }
    return "unknown status";
}

const char *sfb_source_str(enum sfb_source source)
{
    switch (source) { /* no default: the compiler names the text we forget */
    case SFB_SOURCE_START: return "start";
    case SFB_SOURCE_SFRAME: return "sframe";
    case SFB_SOURCE_EH_FRAME: return "eh_frame";
    case SFB_SOURCE_SIGNAL: return "signal";
    case SFB_SOURCE_CODE_PATTERN: return "code-pattern";
    case SFB_SOURCE_LIBUNWIND: return "libunwind";
    case SFB_SOURCE_FRAME_POINTER: return "frame-pointer";
    case SFB_SOURCE_UNPROVEN: return "unproven";
    case SFB_SOURCE_ASYNC: return "async";
    case SFB_SOURCE_COUNT: break;
    }
    return "unknown source";
}
