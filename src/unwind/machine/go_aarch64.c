/* Code of Go on AArch64, by its instructions: no table covers it. */
#include "unwind/machine/go.h"
#include "unwind/machine/insn_aarch64.h"

/* Records lie below sp there. */
bool sfb_arch_stores_record(struct sfb_memory *code, uint64_t pc, enum sfb_frame_kind kind,
                            uint64_t offset)
{
    (void)code;
    (void)pc;
    (void)kind;
    (void)offset;
    return false;
}

/*
 *     aa0003e0   mov x0, x0      at the start of a function: assemblers write another no-op
 *     94xxxxxx   bl goexit1
 */
bool sfb_arch_is_goroutine_end(struct sfb_memory *code, uint64_t pc)
{
    uint32_t before, here;

    return sfb_insn_read(code, pc - 4, &before) && before == 0xaa0003e0 &&
           sfb_insn_read(code, pc, &here) && sfb_insn_is_bl(here);
}
