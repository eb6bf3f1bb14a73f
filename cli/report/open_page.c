#include "cli/report/open_page.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "cli/report/browser.h"
#include "cli/tool.h"

bool report_open_prepare(struct report_request *r, enum tool_exit *exit_status)
{
    const char *folder = getenv("TMPDIR");
    const char **page = &r->outputs[REPORT_OUTPUT_HTML];
    int fd;

    if (*page && strcmp(*page, "-") == 0) {
        *exit_status = tool_misused(r->command, "--open: --html - is no file");
        return false;
    }
    if (*page)
        return true;
    if (asprintf(&r->own_page, "%s/sfb-report-XXXXXX.html", folder && folder[0] ? folder : "/tmp") <
        0)
        r->own_page = NULL;
    fd = r->own_page ? mkstemps(r->own_page, (int)strlen(".html")) : -1;
    if (fd < 0) {
        *exit_status =
            tool_complain(TOOL_USAGE, "--open: %s: %s", r->own_page ? r->own_page : "page",
                          strerror(r->own_page ? errno : ENOMEM));
        return false;
    }
    close(fd);
    *page = r->own_page;
    return true;
}

enum tool_exit report_open_page(struct report_request *r)
{
    const char *path = r->outputs[REPORT_OUTPUT_HTML], *browser = getenv("BROWSER");
    const char *program = browser && browser[0] ? browser : "xdg-open";
    char *whole = realpath(path, NULL); /* its first letter is no '-' */
    int failure;

    if (r->own_page)
        chmod(path, 0600); /* functions and paths of a program are its user's own */
    failure = whole ? report_browser_start(program, whole) : ENOMEM;
    free(whole);
    r->page_opened = true; /* what could not be opened is named, and stays */
    if (failure != 0)
        return tool_complain(TOOL_USAGE, "--open: %s: %s; the page is %s", program,
                             strerror(failure), path);
    return tool_complain(TOOL_DONE, "page: %s", path);
}
