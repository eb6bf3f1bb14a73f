#include "cli/tests/record_tool/recorded.h"

#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>

#include "support/test.h"

struct recorded recorded_by(const char *before, const char *format, ...)
{
    struct recorded out;
    char *rest = NULL;
    va_list arguments;
    const char *wrong;

    va_start(arguments, format);
    cr_assert(vasprintf(&rest, format, arguments) >= 0);
    va_end(arguments);
    out.run = run_line("P='%s'; %s '%s' record -f -o it.sfbr %s", SFB_RECORD_PROGRAM, before,
                       SFB_TOOL, rest);
    wrong = contents_read(&out.contents, "it.sfbr");
    cr_assert(wrong == NULL, "%s: %s: %s", rest, wrong, out.run.err);
    cr_expect(out.contents->health.torn == 0 && out.contents->health.bad_blocks == 0 &&
                  out.contents->health.skipped == 0,
              "%s: the file is damaged", rest);
    free(rest);
    return out;
}

void recorded_free(struct recorded *recorded)
{
    run_free(&recorded->run);
    free(recorded->contents);
}

uint64_t recorded_cpu(const struct contents *c)
{
    return c->weight + c->rests + c->unsampled;
}
