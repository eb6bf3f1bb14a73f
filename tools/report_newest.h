/* Which recording is meant where none is named. */
#ifndef REPORT_NEWEST_H
#define REPORT_NEWEST_H

/*
 * Finds the recording of the current folder that was written last, by the name that `sfb record` gives one:
 * sfb-PROGRAM-PID.sfbr.
 *
 * @return its name, to be freed; NULL: there is none, or no memory
 */
char *report_newest(void);

#endif
