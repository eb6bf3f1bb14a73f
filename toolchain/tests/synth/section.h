/* The rules of .sframe by the library's reader; comparison and output. */
#ifndef SYNTH_SECTION_H
#define SYNTH_SECTION_H

#include "answer.h"
#include "sfb/section.h"

/* An unreadable row prints a line, and counts as missing. */
struct answer section_answer(const struct sfb_section *section, const struct machine *machine,
                             uint64_t pc);

/* Without flags. */
bool answer_same(const struct answer *a, const struct answer *b);

/* Prints "NAME sp+16 fp c-16", without a newline. */
void answer_print(const char *name, const struct machine *machine, const struct answer *answer);

#endif
