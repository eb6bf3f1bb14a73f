/* The program that a log is of: an ELF file, or a copy of its memory map. */
#ifndef CLI_REPORT_LWS_PROGRAM_H
#define CLI_REPORT_LWS_PROGRAM_H

#include "cli/tool.h"
#include "symbols/loaded_modules.h"
#include "symbols/symbols.h"

struct lws_program {
    struct loaded_module module; /* the symbols borrow it */
};

/*
 * Takes the functions of a program.
 *
 * @param out   to be freed behind the symbols, in any case
 * @param base  where it was loaded; NULL: as it was linked
 * @return false after a complaint
 */
bool lws_program_use(struct lws_program *out, struct symbols *symbols, const char *path,
                     const uint64_t *base, enum tool_exit *exit_status);

void lws_program_free(struct lws_program *program);

#endif
