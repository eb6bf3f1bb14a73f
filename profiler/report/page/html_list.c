#include "profiler/report/page/html_list.h"

#include <inttypes.h>

void html_list_begin(FILE *to, const char *name)
{
    fprintf(to, "\"%s\":[", name);
}

void html_list_next(FILE *to, size_t i)
{
    if (i > 0)
        fputc(',', to);
}

void html_list_number(FILE *to, size_t i, uint64_t number)
{
    html_list_next(to, i);
    fprintf(to, "%" PRIu64, number);
}

void html_list_further(FILE *to, size_t i, uint64_t number, uint64_t *before)
{
    html_list_next(to, i);
    fprintf(to, "%" PRId64, (int64_t)(number - *before));
    *before = number;
}

void html_list_end(FILE *to, const char *next)
{
    fprintf(to, "]%s", next);
}
