/*
 * What a report that takes longer than a second is at: one line on a terminal's standard error, which goes away. In a pipe, in a file and
 * on a dumb terminal nothing is written.
 */
#ifndef CLI_REPORT_PROGRESS_H
#define CLI_REPORT_PROGRESS_H

#include <stddef.h>

/* Begins to watch the time. */
void report_progress_begin(void);

/**
 * Notes what is done from now on. Without report_progress_begin() it does nothing.
 *
 * @param what  a verb, "reading"; its text is borrowed until the next call
 * @param name  of a file; borrowed likewise; "": none
 * @param at    its number, from 1 on
 * @param of    how many there are; 1: no number is shown
 */
void report_progress_note(const char *what, const char *name, size_t at, size_t of);

/* The line goes away; no other follows. */
void report_progress_end(void);

#endif
