/* Replaces decode.c and the machines' files in builds without capstone. */
#include "toolchain/check/insn.h"

bool decoder_built(void)
{
    return false;
}

struct decoder *decoder_open(uint8_t abi)
{
    (void)abi;
    return NULL;
}

void decoder_close(struct decoder *d)
{
    (void)d;
}

bool decoder_read(struct decoder *d, struct insn *out, const uint8_t *code, size_t size,
                  uint64_t address)
{
    (void)d;
    (void)out;
    (void)code;
    (void)size;
    (void)address;
    return false;
}
