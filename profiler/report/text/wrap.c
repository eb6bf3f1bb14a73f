#include "profiler/report/text/wrap.h"

#include <stdbool.h>
#include <string.h>

#include "profiler/report/text/name.h"

enum { FARTHER = 4, WORD_MAX = 1024 };

/* @return columns of a word; of one that is longer than any room, its bytes */
static unsigned width_of(const char *word, size_t size)
{
    char copy[WORD_MAX];

    if (size >= sizeof copy)
        return (unsigned)size;
    memcpy(copy, word, size);
    copy[size] = '\0';
    return report_name_width(copy);
}

void report_wrap_line(FILE *to, const char *line, size_t size, unsigned width)
{
    const size_t indent = strspn(line, " ");
    unsigned at = 0;

    for (size_t i = 0; i < size;) {
        const size_t blanks = strspn(line + i, " ");
        const size_t word = strcspn(line + i + blanks, " \n");
        const unsigned wide = width_of(line + i + blanks, word);

        if (width > 0 && at > indent + FARTHER && at + blanks + wide > width) {
            fprintf(to, "\n%*s", (int)indent + FARTHER, "");
            at = (unsigned)indent + FARTHER;
        } else {
            fwrite(line + i, 1, blanks, to);
            at += (unsigned)blanks;
        }
        fwrite(line + i + blanks, 1, word, to);
        at += wide;
        i += blanks + word;
    }
}

static bool is_copied(const char *line)
{
    return line[0] != ' ' || strncmp(line + strspn(line, " "), "try: ", 5) == 0;
}

void report_wrap(FILE *to, const char *text, unsigned width)
{
    while (*text) {
        const size_t size = strcspn(text, "\n");

        report_wrap_line(to, text, size, is_copied(text) ? 0 : width);
        if (text[size] == '\n')
            fputc('\n', to);
        text += size + (text[size] == '\n');
    }
}
