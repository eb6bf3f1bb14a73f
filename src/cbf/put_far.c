/* The uncommon part of cbf_put_common(). libsfb-recording.a has it, too: the shared library hides it. */
#include "cbf/put.h"

uint8_t *cbf_put_far(uint8_t *at, unsigned opcode, uint64_t last, uint64_t address)
{
    uint64_t operand = address - last;
    unsigned count = cbf_signed_count(operand), absolute_count = cbf_signed_count(address);

    if (absolute_count < count) {
        operand = address;
        count = absolute_count;
        opcode |= CBF_ADDRESS_ABSOLUTE;
    }
    return cbf_write_operand(at, opcode, operand, count);
}
