#include <string.h>

#include "profiler/collector/outside/perf_registers.h"

/* enum perf_event_arm_regs: x0 to x29, lr, sp, pc: DWARF numbers, but for the pc, which is 32 there and here. */
enum { COUNT = 33 };

const char *const perf_machine = "aarch64";
const unsigned perf_register_sp = 31, perf_register_pc = 32;
const unsigned perf_register_arguments[3] = { 0, 1, 2 };
const uint64_t perf_registers_wanted = ((uint64_t)1 << COUNT) - 1;

void perf_registers_read(struct sfb_context *out, uint64_t mask, const uint8_t *values)
{
    *out = (struct sfb_context){ .valid = 0 };
    for (unsigned i = 0; i < COUNT; i++) {
        if (!(mask >> i & 1))
            continue;
        memcpy(&out->reg[i], values, sizeof out->reg[i]);
        out->valid |= (uint64_t)1 << i;
        values += sizeof(uint64_t);
    }
}
