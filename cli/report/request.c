#include "cli/report/request.h"

#include <stdlib.h>
#include <unistd.h>

bool report_request_take_view(struct report_request *r, enum report_view view, int option,
                              enum tool_exit *exit_status)
{
    if (r->view_given && r->view != view) {
        *exit_status = tool_misused(r->command, "--%s and --%s: one of them",
                                    tool_option_name(r->command, r->view_option),
                                    tool_option_name(r->command, option));
        return false;
    }
    r->view_given = true;
    r->view = view;
    r->view_option = option;
    return true;
}

void report_request_close(struct report_request *r)
{
    if (r->filter_given)
        regfree(&r->filter);
    if (r->function_text)
        regfree(&r->function);
    places_close(&r->places);
    if (r->own_page && !r->page_opened)
        unlink(r->own_page);
    free(r->own_page);
    labels_free(&r->labels);
    free(r->groups);
    free(r->all_paths);
}
