#include <string.h>

#include "profiler/collector/outside/perf_registers.h"

/* enum perf_event_x86_regs: ax bx cx dx si di bp sp ip flags cs ss ds es fs gs r8 to r15. */
enum { FIRST_SEGMENT = 9, FIRST_R8 = 16, COUNT = 24 };

const char *const perf_machine = "x86_64";
const unsigned perf_register_sp = 7, perf_register_pc = 16;
const unsigned perf_register_arguments[3] = { 5, 4, 1 };
const uint64_t perf_registers_wanted = 0xff01ff;

/* DWARF numbers: rax rdx rcx rbx rsi rdi rbp rsp, r8 to r15, and the pc as 16. */
static const uint8_t dwarf[FIRST_SEGMENT] = { 0, 3, 2, 1, 4, 5, 6, 7, 16 };

void perf_registers_read(struct sfb_context *out, uint64_t mask, const uint8_t *values)
{
    *out = (struct sfb_context){ .valid = 0 };
    for (unsigned i = 0; i < COUNT; i++) {
        const unsigned number = i < FIRST_SEGMENT ? dwarf[i] : i - FIRST_R8 + 8;

        if (!(mask >> i & 1))
            continue;
        if (i < FIRST_SEGMENT || i >= FIRST_R8) {
            memcpy(&out->reg[number], values, sizeof out->reg[number]);
            out->valid |= (uint64_t)1 << number;
        }
        values += sizeof(uint64_t);
    }
}
