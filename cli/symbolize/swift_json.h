/* Crash logs of Swift's swift-backtrace in JSON: written of our backtraces, and read. docs/FORMATS.md, "Crash logs of Swift". */
#ifndef CLI_SYMBOLIZE_SWIFT_JSON_H
#define CLI_SYMBOLIZE_SWIFT_JSON_H

#include "cli/backtraces.h"
#include "cli/stack_print.h"
#include "cli/tool.h"
#include "util/input.h"

/* Whether an input is a text that begins as JSON does. */
bool swift_json_is(const struct input *input);

/* Whether a line of a text begins a crash log: swift-backtrace writes other lines before it. */
bool swift_json_has(const struct input *input);

/*
 * Prints each crash log of an input as frames, thread by thread. Frames without a name get theirs from the files of the
 * log's images.
 */
enum tool_exit swift_json_read(const struct stack_print *print, const struct input *input);

/* Writes each backtrace of CBF data as a log of one thread: its modules are the process's. */
enum tool_exit swift_json_write(const struct stack_print *print, struct backtraces *backtraces);

/*
 * Writes each crash report of a text as a log.
 *
 * @param count  how many there were
 */
enum tool_exit swift_json_write_reports(const struct stack_print *print, const struct input *input,
                                        size_t *count);

#endif
