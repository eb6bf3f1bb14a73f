#include "profiler/report/page/html.h"

#include <assert.h>
#include <string.h>

#include "profiler/report/page/html_data.h"
#include "profiler/report/page/html_heap.h"
#include "profiler/report/page/html_pack.h"
#include "profiler/report/page/html_page.h"

/* Of more numbers than so many the page is packed: fewer can be read by people, and with grep. */
enum { PLAIN_NUMBERS = 20000 };

/* Where the data stands in the page. */
static const char data_mark[] = "<!--data-->";

static bool is_large(const struct report_model *model, const struct html_tree *tree,
                     const struct html_time *time)
{
    return 2 * tree->nodes.count + 4 * model->rows.count + 3 * time->moments.count > PLAIN_NUMBERS;
}

/* @return false: no memory */
static bool write_data(FILE *to, const struct report_model *model, const struct html_tree *tree,
                       const struct html_time *time)
{
    const bool large = is_large(model, tree, time);
    FILE *data;
    bool good;

    fprintf(to, "<script id=\"data\" type=\"%s\">",
            large ? "application/gzip;base64" : "application/json");
    data = large ? html_packed_open(to) : html_plain_open(to);
    good = data && html_data_write(data, model, tree, time);
    if (data && fclose(data) != 0)
        good = false;
    fputs("</script>", to);
    return good;
}

bool report_html_write(FILE *to, const struct report_model *model)
{
    const char *page = (const char *)html_page, *mark = strstr(page, data_mark);
    struct html_tree tree = { .leaf = NULL };
    struct html_time time = { .step_ns = 0 };
    bool good;

    assert(mark);
    good = html_tree_make(&tree, model) &&
           (model->heap ? html_heap_time_make : html_time_make)(&time, model);
    if (good) {
        fwrite(page, 1, (size_t)(mark - page), to);
        good = write_data(to, model, &tree, &time);
        fputs(mark + strlen(data_mark), to);
    }
    html_tree_free(&tree);
    html_time_free(&time);
    return good;
}
