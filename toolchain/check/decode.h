/* Shared by the decoders of machines. */
#ifndef TOOLCHAIN_CHECK_DECODE_H
#define TOOLCHAIN_CHECK_DECODE_H

#include <capstone/capstone.h>

#include "toolchain/check/insn.h"

struct decoder {
    csh handle;
    cs_insn *insn;
    uint8_t abi;
};

/* Describes a decoded instruction; on entry `out` has address and size only. */
void decode_amd64(const struct decoder *d, struct insn *out);
void decode_aarch64(const struct decoder *d, struct insn *out);

/* Decodes AArch64 by its bits. @return false: not a known encoding */
bool decode_aarch64_word(struct insn *out, uint32_t word);

/* For instructions unknown to capstone. */
void decode_aarch64_unknown(struct insn *out, uint32_t word);

#endif
