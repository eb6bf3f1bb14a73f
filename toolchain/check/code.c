/*
 * Rows against the machine code, for functions without .eh_frame.
 *
 * A function is decoded, the height of its stack is followed from the first instruction on, and
 * each row on the way is compared. Code that cannot be followed is counted, and is no finding.
 */
#include "toolchain/check/code.h"
#include "util/counted.h"

#include <inttypes.h>
#include <stdlib.h>

#include <sfb/abi.h>

/* The limit of decoding, for each byte: bad files have overlapping functions. */
enum { READ_PER_BYTE = 8, READ_LEAST = 0x10000, PROGRESS_STEP = 256 };

static uint64_t code_bytes(const struct object *o)
{
    uint64_t sum = 0;

    for (size_t i = 0; i < o->code_count; i++)
        sum += o->code[i].end - o->code[i].start;
    return sum;
}

/* Whether level 4 compared a function with .eh_frame: their ranges ascend. */
static bool is_compared(const struct check *c, size_t *next, uint64_t start)
{
    if (!c->result->comparison.done || c->options->code == CHECK_CODE_ALL)
        return false;
    while (*next < c->function_count && c->functions[*next].end <= start)
        ++*next;
    return *next < c->function_count && c->functions[*next].start <= start;
}

static bool look_at(struct code_function *u, size_t index)
{
    bool good = true;

    u->index = index;
    if (code_function_read(u, u->cc->all[index])) {
        bool gap = false;

        code_judge_bounds(u);
        good = code_follow(u);
        code_say(u);
        u->cc->functions++;
        u->cc->insns += u->insn_count;
        for (unsigned i = 0; i < GAP_COUNT; i++) {
            u->cc->gaps[i] += u->gaps[i];
            gap |= u->gaps[i];
        }
        u->cc->followed += !gap;
    } else if (u->gaps[GAP_LARGE] || u->gaps[GAP_BYTES]) {
        u->cc->functions++;
        u->cc->gaps[u->gaps[GAP_LARGE] ? GAP_LARGE : GAP_BYTES]++;
    }
    code_function_reset(u);
    return good;
}

static void look_at_all(struct code_check *cc)
{
    const struct check_options *options = cc->c->options;
    struct code_function u = { .cc = cc };
    size_t next = 0;

    for (size_t i = 0; i < cc->count && !cc->c->no_memory && !findings_are_enough(cc->c->findings);
         i++) {
        const struct check_function f = cc->all[i];

        if (options->progress && i % PROGRESS_STEP == 0)
            options->progress(cc->c->name, i, cc->count);
        if (f.entry->size == 0 || is_compared(cc->c, &next, f.entry->start) ||
            !object_is_code(cc->c->object, f.entry->start, f.entry->start + f.entry->size))
            continue;
        if (!look_at(&u, i))
            cc->c->no_memory = true;
    }
    code_say_called(cc);
    code_function_free(&u);
}

static void say_summary(struct code_check *cc)
{
    if (cc->functions == 0)
        return;
    findings_add(cc->c->findings, CODE_INSN_FOLLOWED, in_file(0),
                 "%s, %s; %s from end to end. Not followed: the stack pointer in %" PRIu64
                 ", a block that nothing was seen to lead to in %" PRIu64
                 ", bytes that are no known instruction in %" PRIu64
                 ", a return to what was pushed in %" PRIu64 ", too large %" PRIu64,
                 counted(cc->functions, "functions").text, counted(cc->insns, "instructions").text,
                 counted(cc->followed, "functions").text, cc->gaps[GAP_HEIGHT], cc->gaps[GAP_BLOCK],
                 cc->gaps[GAP_BYTES], cc->gaps[GAP_TRICK], cc->gaps[GAP_LARGE]);
}

void check_against_code(struct check *c)
{
    const uint8_t abi = c->part_count > 0 ? c->parts[0].abi : 0;
    struct code_check cc = { .c = c };

    if (!c->object || c->part_count == 0 || c->reading.fix.kind == FIX_FOREIGN ||
        findings_are_enough(c->findings) || c->options->code == CHECK_CODE_NONE ||
        (c->options->code == CHECK_CODE_WHERE_NEEDED && c->options->no_cfi) ||
        c->object->abi != abi)
        return;
    if (!decoder_built() && (!c->result->comparison.done || c->options->code == CHECK_CODE_ALL))
        findings_add(c->findings, CODE_INSN_FOLLOWED, in_file(0),
                     "none: this build has no decoder, which capstone is");
    cc.decoder = decoder_open(abi);
    if (!cc.decoder)
        return;
    cc.machine = machine_of(abi);
    cc.code_left = code_bytes(c->object) * READ_PER_BYTE + READ_LEAST;
    cc.rows_left = c->size * READ_PER_BYTE * (uint64_t)8 + READ_LEAST;
    cc.all = check_functions_sorted(c, &cc.count);
    cc.callers = cc.all ? calloc(cc.count, sizeof *cc.callers) : NULL;
    if (cc.callers)
        look_at_all(&cc);
    c->no_memory |= cc.all && !cc.callers;
    say_summary(&cc);
    free(cc.callers);
    free(cc.all);
    decoder_close(cc.decoder);
}
