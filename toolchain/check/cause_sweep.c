/* Functions by the code alone: what lies between two ends of control. */
#include <stdlib.h>

#include "symbols/code_ranges.h"
#include "toolchain/check/cause_truth.h"
#include "toolchain/check/insn.h"
#include "util/grow.h"

/* Bytes that are no instruction are passed over one by one; functions begin at multiples of this. */
enum { ALIGNED = 16 };

/* Of more functions, in code that is a return at each byte, nothing is known: 64 MiB of ranges. */
enum { RANGES_MOST = 1 << 22 };

struct sweep {
    struct truth *out;
    size_t capacity;
    uint64_t start, end; /* of the code since the last end of control, without no-ops behind it */
    bool open;           /* there is such code */
    bool ends;           /* control does not go on behind it, or may not */
};

/* @return false: no memory, or too many */
static bool close_range(struct sweep *w)
{
    if (w->open && w->end > w->start) {
        if (w->out->count >= RANGES_MOST ||
            !array_make_room(&w->out->list, w->out->count, &w->capacity, sizeof *w->out->list))
            return false;
        w->out->list[w->out->count++] = (struct object_range){ w->start, w->end };
    }
    w->open = w->ends = false;
    return true;
}

/* @return false: no memory */
static bool add_insn(struct sweep *w, const struct insn *i, bool calls)
{
    if (i->padding)
        w->ends |= calls;
    else if (w->ends || (calls && i->address % ALIGNED == 0)) {
        if (!close_range(w))
            return false;
    }
    if (i->padding)
        return true;
    if (!w->open)
        w->start = i->address;
    w->open = true;
    w->end = insn_end(i);
    w->ends = i->flow == FLOW_RETURN || i->flow == FLOW_JUMP || i->flow == FLOW_AWAY ||
              i->flow == FLOW_MAYBE;
    return true;
}

static bool sweep_range(struct sweep *w, struct decoder *d, const struct object *o,
                        const struct object_range *code)
{
    const uint8_t *bytes = object_code_at(o, code->start, code->end - code->start);
    bool calls = false; /* a call, and no-ops behind it */

    for (uint64_t pc = code->start; bytes && pc < code->end;) {
        struct insn i;

        if (!decoder_read(d, &i, bytes + (pc - code->start), (size_t)(code->end - pc), pc)) {
            pc++;
            continue;
        }
        if (!add_insn(w, &i, calls))
            return false;
        calls = i.flow == FLOW_CALL || (calls && i.padding);
        pc = insn_end(&i);
    }
    return close_range(w);
}

bool truth_of_code(struct truth *out, const struct object *o)
{
    struct sweep w = { .out = out };
    struct decoder *d = decoder_open(o->abi);
    bool good = d != NULL;

    *out = (struct truth){ .by = "functions of the code", .split = true };
    for (size_t i = 0; good && i < o->code_count; i++)
        good = sweep_range(&w, d, o, &o->code[i]);
    if (d)
        decoder_close(d);
    return good && out->count > 0;
}
