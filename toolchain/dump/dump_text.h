/* Prints an SFrame section as objdump does. */
#ifndef TOOLCHAIN_DUMP_DUMP_TEXT_H
#define TOOLCHAIN_DUMP_DUMP_TEXT_H

#include <sfb/section.h>

/*
 * Prints header, functions and rows of one section as `objdump --sframe` of the release that writes
 * its version: 2.40 for 1, 2.44 for 2, 2.47 for 3.
 *
 * @return SFB_OK; else the fault of the entry or row behind the printed ones
 */
enum sfb_status dump_text(const struct sfb_section *section, struct sfb_error *error);

#endif
