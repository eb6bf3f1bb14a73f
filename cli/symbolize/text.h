/*
 * Backtraces in a text: reports of the crash handler, and log lines. Everything else in it is passed
 * over.
 */
#ifndef CLI_SYMBOLIZE_TEXT_H
#define CLI_SYMBOLIZE_TEXT_H

#include "cli/stack_print.h"
#include "cli/tool.h"
#include "util/input.h"

/*
 * Prints all of them in the order in which they begin. A report has its modules with it; log lines
 * are of the process whose modules the symbols have.
 *
 * @param flags  enum sfb_cbf_decoder_flags, for log lines
 * @param count  how many there were
 */
enum tool_exit symbolize_text(const struct stack_print *print, const struct input *input,
                              uint32_t flags, size_t *count);

/* Whether an input is a text that has one of them, rather than CBF. */
bool symbolize_is_text(const struct input *input);

#endif
