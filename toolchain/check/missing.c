#include "toolchain/check/missing.h"

#include <inttypes.h>
#include <stdlib.h>

#include "toolchain/check/say.h"
#include "toolchain/check/where.h"
#include "util/counted.h"

void missing_add(struct missing *m, const struct missing_function *function)
{
    if (m->count < MISSING_TABLE)
        m->list[m->count] = *function;
    m->count++;
    m->bytes += function->bytes;
    m->last = function->start;
}

static void say_table(const struct missing *m, struct check *c)
{
    char *last = where_pc(c->object, m->last);

    if (last)
        say_at(c, CODE_CAUSE_TABLE, in_eh_frame(m->list[0].offset), m->list[0].start, no_rules,
               " to %s: %s, %s", last, counted(m->count, "functions").text,
               counted(m->bytes, "bytes").text);
    else
        c->no_memory = true;
    free(last);
    c->findings->explained[check_code_index(CODE_NOT_COVERED)] += m->count;
}

void missing_say(struct missing *m, struct check *c)
{
    if (m->count >= MISSING_TABLE)
        say_table(m, c);
    else
        for (size_t i = 0; i < m->count; i++)
            say_at(c, CODE_NOT_COVERED, in_eh_frame(m->list[i].offset), m->list[i].start, no_rules,
                   ": %s", counted(m->list[i].bytes, "bytes").text);
    m->count = m->bytes = 0;
}
