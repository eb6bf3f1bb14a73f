#include "profiler/report/text/name.h"

#include <stdlib.h>
#include <string.h>

#include "symbols/short_name.h"
#include "util/foreign.h"

/* Names that are longer are cut without a look at their brackets. */
enum { BRACKETS_MAX = 4096, MODULE_ROOM = 44 };

/* [first, last], "Unicode 15.0": what terminals show in no column, or in two */
static const struct {
    uint32_t first, last;
    unsigned width;
} widths[] = {
    { 0x0300, 0x036f, 0 },   { 0x0483, 0x0489, 0 },   { 0x0591, 0x05bd, 0 },
    { 0x064b, 0x065f, 0 },   { 0x1100, 0x115f, 2 },   { 0x1ab0, 0x1aff, 0 },
    { 0x1dc0, 0x1dff, 0 },   { 0x200b, 0x200d, 0 },   { 0x20d0, 0x20ff, 0 },
    { 0x2e80, 0x303e, 2 },   { 0x3041, 0x4dbf, 2 },   { 0x4e00, 0xa4cf, 2 },
    { 0xa960, 0xa97f, 2 },   { 0xac00, 0xd7a3, 2 },   { 0xf900, 0xfaff, 2 },
    { 0xfe00, 0xfe0f, 0 },   { 0xfe20, 0xfe2f, 0 },   { 0xfe30, 0xfe6f, 2 },
    { 0xfeff, 0xfeff, 0 },   { 0xff00, 0xff60, 2 },   { 0xffe0, 0xffe6, 2 },
    { 0x1f300, 0x1f64f, 2 }, { 0x1f900, 0x1f9ff, 2 }, { 0x20000, 0x3fffd, 2 },
};

/* @param size  written: bytes of the character */
static unsigned character_width(const char *at, const char *end, size_t *size)
{
    uint32_t value;

    *size = foreign_character(at, (size_t)(end - at), &value);
    if (foreign_is_unprintable(value) || value == '\\')
        return (unsigned)(FOREIGN_ESCAPE * *size);
    for (size_t i = 0; value >= widths[0].first && i < sizeof widths / sizeof *widths; i++)
        if (value >= widths[i].first && value <= widths[i].last)
            return widths[i].width;
    return 1;
}

unsigned report_name_width(const char *name)
{
    const char *end = name + strlen(name);
    unsigned width = 0;
    size_t size;

    for (const char *at = name; at < end; at += size)
        width += character_width(at, end, &size);
    return width;
}

/* @return bytes at the start of a name that fit */
static size_t fitting(const char *name, unsigned room, unsigned *used)
{
    const char *end = name + strlen(name), *at = name;
    unsigned width = 0;

    while (at < end) {
        size_t size;
        const unsigned next = character_width(at, end, &size);

        if (next > room - width)
            break;
        width += next;
        at += size;
    }
    *used = width;
    return (size_t)(at - name);
}

/*
 * What tells a name from its neighbours is its last component: outer namespaces go first, one by one, then a list of
 * arguments that is dots already.
 *
 * @return the rest of the name
 */
static const char *drop_namespaces(char *name, unsigned room)
{
    char *at = name, *end = name + strlen(name);

    for (char *next = at; report_name_width(at) > room;) {
        size_t depth = 0;

        for (; *next && !(depth == 0 && next[0] == ':' && next[1] == ':'); next++) {
            if (strncmp(next, "operator", strlen("operator")) == 0)
                next = end - 1; /* its characters may look like brackets */
            else if (*next == '<' || *next == '(')
                depth++;
            else if ((*next == '>' || *next == ')') && depth > 0)
                depth--;
        }
        if (!*next || !next[2])
            break;
        next += 2;
        at = next;
    }
    if (report_name_width(at) > room && end - at > 5 && strcmp(end - 5, "(...)") == 0)
        end[-5] = '\0';
    return at;
}

/* The beginning, dots, the end: twice as much of it. */
static unsigned put_cut(FILE *to, const struct report_style *style, const char *name, unsigned room)
{
    const char *dots = style->utf8 ? "\u2026" : "..", *tail = name;
    const unsigned dots_width = style->utf8 ? 1 : 2;
    const unsigned inside = room > dots_width ? room - dots_width : 0;
    unsigned head_width, left = report_name_width(name);
    const size_t head_size = fitting(name, inside / 3, &head_width);
    char *head = strndup(name, head_size);

    if (head)
        foreign_print(to, head);
    free(head);
    for (const char *end = name + strlen(name); left > inside - head_width;) {
        size_t size;

        left -= character_width(tail, end, &size);
        tail += size;
    }
    fputs(dots, to);
    foreign_print(to, tail);
    return head_width + dots_width + left;
}

unsigned report_name_put(FILE *to, const struct report_style *style, const char *name,
                         unsigned room)
{
    const unsigned width = report_name_width(name);
    char *shorter;
    unsigned done;

    if (room == 0 || width <= room) {
        foreign_print(to, name);
        return width;
    }
    shorter = strlen(name) < BRACKETS_MAX ? strdup(name) : NULL;
    if (shorter)
        object_fit_name(shorter, room);
    if (shorter)
        name = drop_namespaces(shorter, room);
    if (report_name_width(name) <= room) {
        foreign_print(to, name);
        done = report_name_width(name);
    } else {
        done = put_cut(to, style, name, room);
    }
    free(shorter);
    return done;
}

void report_name_put_in(FILE *to, const struct report_style *style, const char *name,
                        const char *module, unsigned room)
{
    const unsigned own = module[0] ? report_name_width(module) + 3 : 0;
    const bool shown = own > 0 && (room == 0 || (room >= MODULE_ROOM && own <= room / 2));

    report_name_put(to, style, name, room && shown ? room - own : room);
    if (!shown)
        return;
    report_colour(to, style, REPORT_DIM);
    fputs(" (", to);
    foreign_print(to, module);
    fputc(')', to);
    report_colour(to, style, REPORT_PLAIN);
}

void report_line_put(FILE *to, const struct report_style *style, const char *line, size_t size,
                     unsigned room)
{
    unsigned width = 0;

    while (size > 0 && (line[size - 1] == '\r' || line[size - 1] == ' '))
        size--;
    for (size_t i = 0, length; i < size; i += length) {
        char escaped[4 * FOREIGN_ESCAPE + 1];
        unsigned next = character_width(line + i, line + size, &length);

        if (line[i] == '\t')
            next = 8 - width % 8;
        else if (line[i] == '\\')
            next = 1;
        if (room > 0 && width + next > room - (i + length < size)) {
            fputs(style->utf8 ? "\u2026" : "~", to);
            return;
        }
        width += next;
        foreign_escape(escaped, sizeof escaped, line + i, length, FOREIGN_ESCAPED);
        if (line[i] == '\t')
            fprintf(to, "%*s", (int)next, "");
        else
            fputs(escaped, to);
    }
}
