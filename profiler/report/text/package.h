/* Which Debian package a file of this machine is of. */
#ifndef PROFILER_REPORT_TEXT_PACKAGE_H
#define PROFILER_REPORT_TEXT_PACKAGE_H

#include <stdbool.h>
#include <stddef.h>

/*
 * Reads dpkg's lists of files, as dpkg-query --search does, which takes ten times as long: it reads all else of its
 * database, too.
 *
 * @return false: no package has it, or none is here
 */
bool report_package_of(char *out, size_t room, const char *path);

#endif
