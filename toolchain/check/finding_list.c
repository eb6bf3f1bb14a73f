#include "toolchain/check/finding_list.h"

#include <stdlib.h>
#include <string.h>

#include "util/grow.h"

void finding_list_take(void *data, const struct check *c, const struct finding *finding)
{
    struct finding_list *l = data;
    char *text = strdup(finding->text);

    (void)c;
    if (!text || !array_make_room(&l->list, l->count, &l->capacity, sizeof *l->list)) {
        l->no_memory = true;
        free(text);
        return;
    }
    l->list[l->count] =
        (struct kept_finding){ finding->code, finding->severity, finding->place, NULL };
    l->list[l->count++].text = text;
}

void finding_list_free(struct finding_list *list)
{
    for (size_t i = 0; i < list->count; i++)
        free(list->list[i].text);
    free(list->list);
    *list = (struct finding_list){ .list = NULL };
}
