/* What the walker's front door takes. */
#include <string.h>

#include "sfb/walk.h"
#include "support/machine.h"
#include "support/test.h"

Test(walker_init, judges_its_arguments)
{
    struct sfb_context start = { .valid = 0 };
    const struct sfb_walker_options options = { .size = sizeof options };
    struct sfb_walker_options bad = options;
    struct sfb_walker w;

    cr_expect(eq(int, sfb_walker_init(NULL, &start, SFB_FRAME_PC, &options), SFB_BAD_ARGUMENT));
    cr_expect(eq(int, sfb_walker_init(&w, NULL, SFB_FRAME_PC, &options), SFB_BAD_ARGUMENT));
    cr_expect(eq(int, sfb_walker_init(&w, &start, SFB_FRAME_OMIT, &options), SFB_BAD_ARGUMENT));
    bad.size = 3;
    cr_expect(eq(int, sfb_walker_init(&w, &start, SFB_FRAME_PC, &bad), SFB_NO_SIZE));
    bad = options;
    bad.flags = 0x80;
    cr_expect(eq(int, sfb_walker_init(&w, &start, SFB_FRAME_PC, &bad), SFB_BAD_ARGUMENT));
}

static const struct sfb_module *find_none(const struct sfb_modules *modules, uint64_t pc,
                                          struct sfb_module *scratch)
{
    (void)modules;
    (void)pc;
    (void)scratch;
    return NULL;
}

/* Code of this process can be read where a caller gives modules alone: that of `_start` ends the walk. */
Test(walker_init, reads_code_where_only_modules_are_given)
{
    static uint8_t code[64] __attribute__((aligned(16)));
    const struct sfb_modules modules = { .find = find_none,
                                         .entries = { .program = (uintptr_t)code } };
    const struct sfb_walker_options options = { .size = sizeof options,
                                                .flags = SFB_WALKER_NO_LIBUNWIND,
                                                .modules = &modules };
    const uint64_t stack[8] = { 0 };
    const struct sfb_regs regs = { .pc = (uintptr_t)code + MACHINE_START_RA,
                                   .sp = (uintptr_t)stack };
    struct sfb_context start = { .valid = 0 };
    struct sfb_walker w;

    memcpy(code, machine_start, sizeof machine_start);
    sfb_arch_context(&start, &regs);
    cr_assert(eq(int, sfb_walker_init(&w, &start, SFB_FRAME_RA, &options), SFB_OK));
    cr_assert(eq(int, sfb_walker_next(&w, NULL), SFB_OK));
    cr_expect(eq(int, sfb_walker_next(&w, NULL), SFB_END));
}
