#include "baseline.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "object/foreign.h"

static int ascending(const void *a, const void *b)
{
    const uint64_t *x = a, *y = b;

    return *x < *y ? -1 : *x > *y;
}

/* @return whether a line of a length begins with a fingerprint */
static bool read_line(uint64_t *out, const char *text, size_t length)
{
    char word[19] = "";
    char *end;
    const size_t size = strcspn(text, " \t\r\n");

    if (size >= sizeof word || size > length || size < 3 || strncmp(text, "0x", 2) != 0)
        return false;
    memcpy(word, text, size);
    *out = strtoull(word, &end, 16);
    return *end == '\0' && word[2] != '-' && word[2] != '+';
}

bool baseline_read(struct baseline *out, const char *text, size_t size, size_t *line)
{
    size_t room = 0;
    char *copy = malloc(size + 1);

    *out = (struct baseline){ .list = NULL };
    *line = 0;
    for (size_t i = 0; i < size; i++)
        room += text[i] == '\n';
    out->list = calloc(room + 1, sizeof *out->list);
    if (!copy || !out->list) {
        free(copy);
        baseline_free(out);
        return false;
    }
    memcpy(copy, text, size);
    copy[size] = '\0';
    for (size_t at = 0; at < size;) {
        const size_t length = (size_t)(strchrnul(copy + at, '\n') - (copy + at));

        ++*line;
        if (length > 0 && copy[at] != '#' &&
            !read_line(&out->list[out->count++], copy + at, length)) {
            free(copy);
            baseline_free(out);
            return false;
        }
        at += length + 1;
    }
    free(copy);
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
