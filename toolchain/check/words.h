/* A rule as text: "CFA = sp+16, RA at CFA-8, FP unchanged". */
#ifndef TOOLCHAIN_CHECK_WORDS_H
#define TOOLCHAIN_CHECK_WORDS_H

#include <stdint.h>

#include <sfb/rule.h>

enum { RULE_WORDS_SIZE = 192 };

/* @param abi  names the registers; on AMD64 an RA at CFA-8 is omitted */
void rule_words(char *out, const struct sfb_rule *rule, uint8_t abi);

#endif
