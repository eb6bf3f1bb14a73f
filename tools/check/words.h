/* A rule in words: "CFA = sp+16, RA at CFA-8, FP unchanged". */
#ifndef CHECK_WORDS_H
#define CHECK_WORDS_H

#include <stdint.h>

#include <sfb/rule.h>

enum { RULE_WORDS_SIZE = 192 };

/* @param abi  whose registers these are; on AMD64 nothing is said of RA where it is at CFA-8 */
void rule_words(char *out, const struct sfb_rule *rule, uint8_t abi);

#endif
