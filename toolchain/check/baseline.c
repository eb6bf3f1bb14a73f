#include "toolchain/check/baseline.h"

#include <ctype.h>
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "util/foreign.h"

static int ascending(const void *a, const void *b)
{
    const uint64_t *x = a, *y = b;

    return *x < *y ? -1 : *x > *y;
}

static uint64_t digit_of(char c)
{
    return (uint64_t)(c <= '9' ? c - '0' : (c | 0x20) - 'a' + 10);
}

/*
 * @return whether a line begins with a fingerprint: 0x, up to 16 digits, a blank or the line's end
 */
static bool read_line(uint64_t *out, const char *text, size_t length)
{
    size_t digits = 0;

    if (length < 3 || text[0] != '0' || text[1] != 'x')
        return false;
    text += 2;
    length -= 2;
    for (*out = 0; digits < length && isxdigit((unsigned char)text[digits]); digits++)
        *out = *out << 4 | digit_of(text[digits]);
    return digits > 0 && digits <= 16 &&
           (digits == length || text[digits] == ' ' || text[digits] == '\t' ||
            text[digits] == '\r');
}

/* Only a newline ends a line: a NUL byte belongs to its line, and is refused there. */
static bool read_lines(struct baseline *out, const char *text, size_t size, size_t *line)
{
    const char *end = text + size;

    while (text < end) {
        const char *newline = memchr(text, '\n', (size_t)(end - text)),
                   *stop = newline ? newline : end;
        const size_t length = (size_t)(stop - text);

        ++*line;
        if (length > 0 && *text != '#' && !read_line(&out->list[out->count++], text, length))
            return false;
        text = newline ? newline + 1 : end;
    }
    return true;
}

bool baseline_read(struct baseline *out, const char *text, size_t size, size_t *line)
{
    size_t room = 1;

    *out = (struct baseline){ .list = NULL };
    *line = 0;
    for (size_t i = 0; i < size; i++)
        room += text[i] == '\n';
    out->list = calloc(room, sizeof *out->list);
    if (!out->list || !read_lines(out, text, size, line)) {
        baseline_free(out);
        return false;
    }
    qsort(out->list, out->count, sizeof *out->list, ascending);
    return true;
}

void baseline_free(struct baseline *baseline)
{
    free(baseline->list);
    *baseline = (struct baseline){ .list = NULL };
}

bool baseline_has(const struct baseline *baseline, uint64_t fingerprint)
{
    return baseline->count > 0 && bsearch(&fingerprint, baseline->list, baseline->count,
                                          sizeof *baseline->list, ascending) != NULL;
}

void baseline_write_head(FILE *to)
{
    fprintf(to, "# sfb check: baseline 1\n");
}

void baseline_write(FILE *to, const char *name, const struct finding *finding, uint64_t fingerprint)
{
    char code[CHECK_CODE_SIZE];

    check_code_name(code, finding->code);
    fprintf(to, "0x%" PRIx64 " %s ", fingerprint, code);
    foreign_print(to, name);
    fprintf(to, ": ");
    foreign_print(to, finding->text);
    putc('\n', to);
}
