#include "profiler/report/formats/code_span.h"

enum { PAGE = 4096 }; /* readers want whole ones */

struct report_code report_code_of(const struct report_model *model, uint32_t module, uint64_t low,
                                  uint64_t high)
{
    const struct report_module *m = &model->modules.at[module];
    const struct report_namer *namer = &model->sources[0].namer;
    const uint64_t first = m->start + low, behind = m->start + high;
    const struct report_place place = { .path = report_text(model, m->path),
                                        .build_id = m->build_id,
                                        .build_id_size = m->build_id_size,
                                        .start = m->start,
                                        .end = m->end };
    struct report_code code;
    uint64_t end = behind > m->end ? behind : m->end;

    if (namer->code && namer->code(namer->user, &place, &code) && code.start <= first &&
        code.end >= behind)
        return code;
    /* Of a damaged list of modules. */
    if (behind < first || end > UINT64_MAX - PAGE)
        return (struct report_code){ .start = 0, .end = UINT64_MAX };
    end += PAGE - 1;
    return (struct report_code){ .start = first / PAGE * PAGE,
                                 .end = end / PAGE * PAGE,
                                 .offset = low / PAGE * PAGE };
}
