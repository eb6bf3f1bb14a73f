/* What .sframe says, by the library's reader; answers compared and printed. */
#ifndef SYNTH_SECTION_H
#define SYNTH_SECTION_H

#include "answer.h"
#include "sfb/section.h"

/* Prints a line if a row cannot be read, which is given as none. */
struct answer section_answer(const struct sfb_section *section, const struct machine *machine,
                             uint64_t pc);

/* But for flags. */
bool answer_same(const struct answer *a, const struct answer *b);

/* Prints "WHO sp+16 fp c-16", without a newline. */
void answer_print(const char *who, const struct machine *machine, const struct answer *answer);

#endif
