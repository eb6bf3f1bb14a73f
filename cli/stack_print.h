/* A backtrace with functions, lines and modules, a frame a line: what `sfb symbolize` prints. */
#ifndef CLI_STACK_PRINT_H
#define CLI_STACK_PRINT_H

#include <stdbool.h>

#include "cli/backtraces.h"
#include "symbols/demangle.h"
#include "symbols/symbols.h"

struct stack_print {
    struct symbols *symbols;
    enum object_name_style names;
};

/*
 * Prints the current one of some backtraces.
 *
 * @param behind  the first pc is that behind the instruction it is about
 * @param why     it is truncated, where that is known; NULL: it is not
 * @return SFB_END, or the fault of the data
 */
enum sfb_status stack_print(const struct stack_print *print, struct backtraces *backtraces,
                            bool behind, const char *why);

#endif
