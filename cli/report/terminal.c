#include "cli/report/terminal.h"

#include <langinfo.h>
#include <locale.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <unistd.h>

enum { WIDTH_UNKNOWN = 80, WIDTH_MIN = 20 };

static bool is_set(const char *name)
{
    const char *value = getenv(name);

    return value && value[0];
}

bool report_terminal_is(void)
{
    const char *term = getenv("TERM");

    return isatty(STDOUT_FILENO) && term && strcmp(term, "dumb") != 0;
}

static unsigned width_of(void)
{
    struct winsize size;

    if (ioctl(STDOUT_FILENO, TIOCGWINSZ, &size) != 0 || size.ws_col == 0)
        return WIDTH_UNKNOWN;
    return size.ws_col < WIDTH_MIN ? WIDTH_MIN : size.ws_col;
}

/* Whether the user's locale has UTF-8. */
static bool is_utf8(void)
{
    const locale_t locale = newlocale(LC_CTYPE_MASK, "", NULL);
    bool utf8;

    if (!locale)
        return false;
    utf8 = strcmp(nl_langinfo_l(CODESET, locale), "UTF-8") == 0;
    freelocale(locale);
    return utf8;
}

struct report_style report_terminal_style(enum report_when colour, const char *unit)
{
    const bool terminal = isatty(STDOUT_FILENO);
    const bool rich = colour == REPORT_ALWAYS || (colour == REPORT_AUTO && report_terminal_is());

    return (struct report_style){
        .width = terminal ? width_of() : 0,
        .colours = rich && (colour == REPORT_ALWAYS || !is_set("NO_COLOR")),
        .bars = rich,
        .utf8 = rich && is_utf8(),
        .unit = unit,
    };
}
