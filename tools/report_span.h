/* A span of time that somebody types: "1.5..3", "100ms..2s", "3..", "..10". */
#ifndef REPORT_SPAN_H
#define REPORT_SPAN_H

#include <stdbool.h>
#include <stdint.h>

/*
 * Reads one: seconds, or with a unit: s, ms, us, ns.
 *
 * @param from, to  ns, written on success; to is 0 where there is no end
 * @return false: it is none, or is empty
 */
bool report_span_parse(const char *text, uint64_t *from, uint64_t *to);

/* Reads one time: "2.5", "300ms". @return false: it is none */
bool report_time_parse(const char *text, uint64_t *out);

#endif
