#include "profiler/report/page/html_wakers.h"

#include <inttypes.h>

#include "profiler/report/page/html_list.h"

bool html_wakers_write(FILE *to, const struct report_model *model, struct report_strings *strings)
{
    const struct report_causes *wakers = &model->wakers;
    const size_t count = wakers->shares.count;
    bool good = true;

    fputs("\"wakers\":{", to);
    html_list_begin(to, "thread");
    for (size_t i = 0; i < count; i++)
        html_list_number(to, i, wakers->shares.at[i].member);
    html_list_end(to, ",");
    html_list_begin(to, "other");
    for (size_t i = 0; i < count; i++) {
        const uint32_t other = wakers->shares.at[i].other;

        html_list_next(to, i);
        fprintf(to, "%" PRId64, other == REPORT_NONE ? -1 : (int64_t)other);
    }
    html_list_end(to, ",");
    html_list_begin(to, "name");
    for (size_t i = 0; i < count; i++) {
        const struct report_cause *waker = &wakers->all.at[wakers->shares.at[i].cause];
        uint32_t text = 0;

        good = report_strings_add(strings, report_text(model, waker->name), &text) && good;
        html_list_number(to, i, text);
    }
    html_list_end(to, ",");
    html_list_begin(to, "ns");
    for (size_t i = 0; i < count; i++)
        html_list_number(to, i, wakers->shares.at[i].total);
    html_list_end(to, "},\n");
    return good;
}
