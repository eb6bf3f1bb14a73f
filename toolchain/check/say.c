#include "toolchain/check/say.h"

#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>

#include "toolchain/check/where.h"

void say_at(struct check *c, enum check_code code, struct finding_place place, uint64_t pc,
            struct finding_rules rules, const char *format, ...)
{
    char *name, *text = NULL;
    va_list arguments;
    int n;

    if (!findings_want_text(c->findings, code)) {
        findings_add(c->findings, code, of_pc(place, pc), "%s", "");
        return;
    }
    name = where_pc(c->object, pc);
    va_start(arguments, format);
    n = vasprintf(&text, format, arguments);
    va_end(arguments);
    if (name && n >= 0)
        findings_add_rules(c->findings, code, of_pc(place, pc), rules, "at %s%s", name, text);
    else
        c->no_memory = true;
    if (n >= 0)
        free(text);
    free(name);
}
