/* An SFrame section as the text that objdump prints. */
#ifndef DUMP_TEXT_H
#define DUMP_TEXT_H

#include <sfb/section.h>

/*
 * Prints header, functions and rows of one section as `objdump --sframe` of the binutils release
 * does that writes its version: 2.40 for 1, 2.44 for 2, 2.47 for 3.
 *
 * @return SFB_OK; else what is wrong with the entry or row behind what was printed
 */
enum sfb_status dump_text(const struct sfb_section *section, struct sfb_error *error);

#endif
