/* What the decoders of machines share. */
#ifndef CHECK_DECODE_H
#define CHECK_DECODE_H

#include <capstone/capstone.h>

#include "insn.h"

struct decoder {
    csh handle;
    cs_insn *insn;
    uint8_t abi;
};

/* Says what an instruction that was read does; `out` has its address, its size, and nothing else. */
void decode_amd64(const struct decoder *d, struct insn *out);
void decode_aarch64(const struct decoder *d, struct insn *out);

/* Instructions of AArch64 that are taken by their bits. @return false: it is none of them */
bool decode_aarch64_word(struct insn *out, uint32_t word);

/* Those that capstone does not know. */
void decode_aarch64_unknown(struct insn *out, uint32_t word);

#endif
