/*
 * The proof that the record at fp is the frame's own. The readable range of the walk's memory changes no answer.
 *
 *     stack:  | popped | the frame, from sp on | record | outer frames |
 */
#include "unwind/walk/proof.h"

#include <string.h>

#include "support/machine.h"
#include "support/test.h"

enum { SP = 16, RECORD = SP + 8, WORDS = RECORD + 40 };

static uint64_t stack[WORDS];

/* Code: from CALLED on each word ends in a call. */
enum { CALLED = 256, CODE_SIZE = 512 };

static uint64_t code; /* where the pc is */
static struct sfb_walk walk;

static uint64_t at(size_t i)
{
    return (uintptr_t)&stack[i];
}

static bool read_fake(struct sfb_memory *memory, uint64_t address, uint64_t *out)
{
    (void)memory;
    if (address - at(0) < sizeof stack)
        *out = stack[(address - at(0)) / 8];
    else if (address - code < CODE_SIZE)
        *out = address - code < CALLED ? 0 : MACHINE_CALL_WORD;
    else
        return false;
    return true;
}

/* A frame of zeros, of code at a distance from sp. */
static void begin(uint64_t distance, enum sfb_status tables)
{
    memset(stack, 0, sizeof stack);
    code = (at(SP) + distance) & ~(uint64_t)7;
    walk = (struct sfb_walk){ .regs = { .pc = code + 8, .sp = at(SP), .fp = at(RECORD) },
                              .work = SFB_WALKER_WORK };
    walk.memory = &walk.own_memory;
    walk.current.missed[SFB_SOURCE_EH_FRAME] = (uint8_t)tables;
}

/* A walk by a caller's reader, one that begins on a stack that is not known, and one on known stack. */
static void expect(bool want, uint64_t word, const char *what)
{
    static const struct {
        const char *name;
        size_t lo, hi;
    } known[] = { { "nothing", 0, 0 }, { "the frame", SP, RECORD + 2 }, { "all", 0, WORDS } };

    stack[SP + 3] = word;
    for (size_t i = 0; i < sizeof known / sizeof *known; i++) {
        walk.table_memory = (struct sfb_memory){ .read = read_fake };
        walk.own_memory = walk.table_memory;
        if (known[i].lo < known[i].hi) {
            walk.own_memory.lo = at(known[i].lo);
            walk.own_memory.hi = at(known[i].hi);
        }
        cr_expect(eq(int, sfb_can_hide_frame(&walk, at(RECORD)), want), "%s, known: %s", what,
                  known[i].name);
    }
}

/* @return an address in the stack behind what could be a call */
static uint64_t behind_a_call(size_t i)
{
    stack[i - 1] = MACHINE_CALL_WORD;
    return at(i);
}

Test(proof, is_that_no_word_of_the_frame_lies_behind_a_call)
{
    begin((uint64_t)1 << 32, SFB_NO_CFI);
    expect(false, 0, "no word");
    expect(false, code + 64, "code, behind no call");
    expect(true, code + CALLED + 8, "code, behind a call");
    expect(false, at(RECORD + 20), "an outer frame");
    expect(true, behind_a_call(RECORD + 20), "an outer frame's bytes that look like a call");
}

Test(proof, knows_the_frame_itself_for_the_stack)
{
    begin((uint64_t)1 << 32, SFB_NO_CFI);
    expect(false, behind_a_call(SP + 6), "in the frame");
    expect(false, behind_a_call(RECORD + 1), "in its record");
    expect(false, behind_a_call(SP - 4), "in a frame that is gone");
}

Test(proof, tells_pointers_to_the_stack_from_code_made_near_it)
{
    begin((uint64_t)64 << 20, SFB_NO_MODULE);
    expect(false, at(RECORD + 20), "the stack");
    expect(true, code + 64, "made code");
    expect(true, code - 4096, "more made code");
    expect(true, at(SP) + ((uint64_t)2 << 20), "too far for a frame");

    begin(512 << 10, SFB_NO_MODULE);
    expect(false, at(RECORD + 20), "the stack, close to made code");
    expect(true, code + 64, "made code, close to the stack");

    begin((uint64_t)1 << 32, SFB_NO_MODULE);
    expect(false, at(SP) + ((uint64_t)2 << 20), "far from both");
}
