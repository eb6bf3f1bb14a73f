/* sfb symbolize --object: names for addresses of one file, as addr2line and llvm-symbolizer do. */
#ifndef CLI_SYMBOLIZE_OBJECT_ADDRESSES_H
#define CLI_SYMBOLIZE_OBJECT_ADDRESSES_H

#include "cli/tool.h"
#include "symbols/debug_file.h"
#include "symbols/demangle.h"

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
