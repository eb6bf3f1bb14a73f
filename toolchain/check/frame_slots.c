#include "toolchain/check/frame_slots.h"

static const struct value unknown = { 0, VALUE_UNKNOWN, 0 }, other = { 0, VALUE_OTHER, 0 };

struct value state_slot(const struct frame_state *s, int64_t at)
{
    for (unsigned i = 0; i < s->slots; i++)
        if (s->slot[i].at == at)
            return s->slot[i].value;
    return s->forgot ? unknown : other;
}

static void drop_slot(struct frame_state *s, unsigned i)
{
    s->slot[i] = s->slot[--s->slots];
}

void state_overwrite(struct frame_state *s, int64_t at, int64_t size)
{
    for (unsigned i = s->slots; i-- > 0;)
        if (s->slot[i].at < at + size && at < s->slot[i].at + 8)
            drop_slot(s, i);
}

void state_forget_below(struct frame_state *s, int64_t sp)
{
    for (unsigned i = s->slots; i-- > 0;)
        if (s->slot[i].at < sp)
            drop_slot(s, i);
}

void state_remember(struct frame_state *s, const struct machine *m, int64_t at,
                    const struct value *v)
{
    const bool matters = v->kind == VALUE_UNKNOWN || v->kind == VALUE_CFA ||
                         (v->kind == VALUE_ENTRY && (v->reg == m->fp || v->reg == m->lr));

    if (!matters)
        return;
    if (s->slots == STATE_SLOTS) {
        drop_slot(s, 0);
        s->forgot = true;
    }
    s->slot[s->slots++] = (struct slot){ at, *v };
}

void state_forget_addresses(struct frame_state *s)
{
    for (unsigned i = 0; i < s->slots; i++)
        if (s->slot[i].value.kind == VALUE_CFA)
            s->slot[i].value = unknown;
}
