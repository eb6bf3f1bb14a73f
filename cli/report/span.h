/* A time range from the command line: "1.5..3", "100ms..2s", "3..", "..10". */
#ifndef CLI_REPORT_SPAN_H
#define CLI_REPORT_SPAN_H

#include <stdbool.h>
#include <stdint.h>

/*
 * Parses a range. Times are seconds, or have a unit: s, ms, us, ns.
 *
 * @param from, to  ns, written on success; to is 0 where there is no end
 * @return false: invalid, or empty
 */
bool report_span_parse(const char *text, uint64_t *from, uint64_t *to);

/*
 * The same with marks of the recording: "mark:A..mark:B", "mark:A..", "..mark:B", "mark:A..3".
 *
 * @param text  written to, and borrowed
 * @param from_mark, to_mark  written: names; NULL: a time
 */
bool report_span_parse_marks(char *text, uint64_t *from, uint64_t *to, const char **from_mark,
                             const char **to_mark);

/* Parses one time: "2.5", "300ms". @return false: invalid */
bool report_time_parse(const char *text, uint64_t *out);

#endif
