#include "toolchain/check/answer.h"

#include <string.h>

/* Rows that overlapping functions may read again, for each byte of the sections. */
enum { VISITS_PER_BYTE = 64, VISITS_LEAST = 0x10000 };

bool asker_open(struct asker *out, const struct check *c)
{
    *out = (struct asker){ .visits = c->size * (uint64_t)VISITS_PER_BYTE + VISITS_LEAST };
    return stretches_make(&out->stretches, c);
}

void asker_close(struct asker *a)
{
    stretches_free(&a->stretches);
}

static void note_repeats(struct asker *m, struct answer *a, bool is_rule)
{
    const struct sframe_entry *e = a->function.entry;

    a->repeats = is_rule && m->before_of == e && m->before_row + 1 == a->row && a->begins &&
                 (e->info & FUNCTION_PCMASK) == 0 &&
                 memcmp(&m->before, &a->rule, sizeof a->rule) == 0;
    if (is_rule && (m->before_of != e || m->before_row != a->row)) {
        m->before = a->rule;
        m->before_of = e;
        m->before_row = a->row;
    }
}

static void open_cursor(struct asker *m, struct check_function function)
{
    if (m->open == function.entry)
        return;
    if (m->cursor.next >= m->visits)
        m->exhausted = true;
    else
        m->visits -= m->cursor.next;
    row_cursor_open(&m->cursor, function);
    m->open = function.entry;
}

void asker_ask(struct asker *m, uint64_t pc, struct answer *a)
{
    const struct stretch *s;

    *a = (struct answer){ .end = UINT64_MAX };
    while (m->next < m->stretches.count && m->stretches.list[m->next].end <= pc)
        m->next++;
    if (m->next == m->stretches.count)
        return;
    s = &m->stretches.list[m->next];
    a->end = s->start;
    if (s->start > pc)
        return;
    open_cursor(m, s->function);
    a->function = s->function;
    a->has_row = row_cursor_seek(&m->cursor, pc, &a->end);
    if (a->end > s->end || a->end <= pc) /* a function may end behind the last address */
        a->end = s->end;
    if (!a->has_row)
        return;
    a->row = m->cursor.index;
    a->position = m->cursor.row.at;
    a->begins = s->function.entry->start + m->cursor.row.start == pc;
    a->has_row =
        sframe_row_rule(&a->rule, s->function.part, s->function.entry, &m->cursor.row) == NULL;
    note_repeats(m, a, a->has_row);
}
