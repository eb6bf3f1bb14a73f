#include "cli/log_lines.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "sfb/cbf.h"
#include "util/base64.h"

enum { PREFIX_SIZE = sizeof LOG_LINE_PREFIX - 1 };

void log_lines_begin(struct log_lines *lines, const struct input *input)
{
    *lines = (struct log_lines){ .input = input, .line = 1 };
}

/* Counts the lines up to an offset. Each byte is looked at once. */
static void count_lines(struct log_lines *l, size_t to)
{
    const char *text = (const char *)l->input->data;
    const char *newline;

    while ((newline = memchr(text + l->at, '\n', to - l->at)) != NULL) {
        l->at = l->line_start = (size_t)(newline - text) + 1;
        l->line++;
    }
    l->at = to;
}

/* memmem() under a sanitizer looks at all that is left of the log each time. */
static const char *find_prefix(const char *text, size_t size)
{
    const char *at = text, *const end = text + size;

    while ((at = memchr(at, LOG_LINE_PREFIX[0], (size_t)(end - at))) != NULL) {
        if (end - at >= PREFIX_SIZE && memcmp(at, LOG_LINE_PREFIX, PREFIX_SIZE) == 0)
            return at;
        at++;
    }
    return NULL;
}

bool log_lines_next(struct log_lines *l, struct log_line *out)
{
    const char *text = (const char *)l->input->data;
    const size_t from = l->at, left = l->input->size - from;
    const char *found = left > 0 ? find_prefix(text + from, left) : NULL;
    size_t start;

    if (!found)
        return false;
    out->offset = (size_t)(found - text);
    count_lines(l, out->offset);
    start = l->line_start > from ? l->line_start : from; /* not what an earlier one has */
    if (out->offset - start > LOG_LINE_BEFORE)
        start = out->offset - LOG_LINE_BEFORE;
    out->number = l->line;
    out->before = text + start;
    out->before_size = out->offset - start;
    out->base64 = found + PREFIX_SIZE;
    out->size = base64_length(out->base64, l->input->size - out->offset - PREFIX_SIZE);
    l->at = out->offset + PREFIX_SIZE + out->size;
    return true;
}

/* A line of a dump of the heap has numbers behind the backtrace: how many (not 0), then LEB128. @return bytes of the backtrace */
static size_t without_numbers(const uint8_t *bytes, size_t size)
{
    struct sfb_cbf_decoder_options options = { .size = sizeof options,
                                               .flags = SFB_CBF_STREAM | SFB_CBF_REQUIRE_END };
    struct sfb_cbf_decoder decoder;
    struct sfb_cbf_item item;
    enum sfb_status status = sfb_cbf_decoder_init(&decoder, bytes, size, &options, NULL);
    size_t end, numbers = 0;

    while (status == SFB_OK)
        status = sfb_cbf_decoder_next(&decoder, &item, NULL);
    if (status != SFB_END)
        return size;
    end = sfb_cbf_decoder_consumed(&decoder);
    for (size_t i = end + 1; i < size; i++)
        numbers += bytes[i] < 0x80;
    return end < size && numbers > 0 && bytes[end] == numbers && bytes[size - 1] < 0x80 ? end
                                                                                        : size;
}

const char *log_line_decode(const struct log_line *line, uint8_t **cbf, size_t *size)
{
    const char *cause;

    *cbf = NULL;
    *size = 0;
    if (line->size == 0)
        return "nothing behind " LOG_LINE_PREFIX;
    if (line->size > LOG_LINE_MAX)
        return "a backtrace of more than 1 MiB";
    *cbf = malloc(line->size / 4 * 3 + 3);
    if (!*cbf)
        return strerror(ENOMEM);
    cause = base64_read(line->base64, line->size, *cbf, size);
    if (!cause)
        *size = without_numbers(*cbf, *size);
    return cause;
}
