/* The default recording, if the command names none. */
#ifndef CLI_REPORT_NEWEST_H
#define CLI_REPORT_NEWEST_H

/*
 * Finds the newest recording in the current folder, among files with the default name of `sfb record`:
 * sfb-PROGRAM-PID.sfbr.
 *
 * @return its name, to be freed; NULL: not found, or no memory
 */
char *report_newest(void);

#endif
