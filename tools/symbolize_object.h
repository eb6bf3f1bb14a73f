/* sfb symbolize --object: names for addresses of one file, as addr2line and llvm-symbolizer do. */
#ifndef SYMBOLIZE_OBJECT_H
#define SYMBOLIZE_OBJECT_H

#include "object/debug_file.h"
#include "object/demangle.h"
#include "tool.h"

/*
 * Prints the functions at addresses of a program, library or separate debug file, as it is linked.
 *
 * @param places     where its debug file may be, beside the usual places
 * @param addresses  hexadecimal; none, or "-": they are on stdin, one a line
 */
enum tool_exit symbolize_object(const struct tool_command *command, const char *path,
                                const struct object_places *places, char **addresses, int count,
                                enum object_name_style style);

#endif
