#include "profiler/protocol/live_lines.h"

#include <string.h>

#include "util/base64_group.h"
#include "util/leb128.h"

struct line {
    uint8_t bytes[SFB_LIVE_LINE_BYTES];
    size_t size;
    bool full;
};

static void put(struct line *line, const void *bytes, size_t size)
{
    if (size > sizeof line->bytes - line->size) {
        line->full = true;
        return;
    }
    memcpy(line->bytes + line->size, bytes, size);
    line->size += size;
}

static void put_number(struct line *line, uint64_t value)
{
    uint8_t bytes[SFB_LEB128_MAX];

    put(line, bytes, sfb_uleb_put(bytes, value));
}

static size_t put_text(char *out, const char *text)
{
    size_t size = 0;

    for (; text[size] != '\0'; size++)
        out[size] = text[size];
    return size;
}

static size_t put_decimal(char *out, uint64_t value)
{
    char digits[20];
    size_t n = 0, size = 0;

    do
        digits[n++] = (char)('0' + value % 10);
    while ((value /= 10) > 0);
    while (n > 0)
        out[size++] = digits[--n];
    return size;
}

static size_t put_base64(char *out, const struct line *line)
{
    size_t n = 0;

    for (size_t i = 0; i < line->size; i += 3, n += SFB_BASE64_GROUP)
        sfb_base64_group(out + n, line->bytes + i, line->size - i);
    return n;
}

/* "heap[12] " */
static size_t put_pid(char *out, uint64_t pid)
{
    size_t size = put_text(out, SFB_LIVE_LINE_OF);

    size += put_decimal(out + size, pid);
    size += put_text(out + size, "] ");
    return size;
}

/* @param out  already holds `used` bytes, the text before the prefix */
static size_t finish(char *out, size_t used, const char *prefix, const struct line *line)
{
    if (line->full)
        return 0;
    used += put_text(out + used, prefix);
    used += put_base64(out + used, line);
    out[used++] = '\n';
    return used;
}

static void put_head(struct line *line, enum sfb_live_head kind)
{
    line->size = 0;
    line->full = false;
    put_number(line, SFB_LIVE_LINES_VERSION);
    put_number(line, (uint64_t)kind);
}

size_t sfb_live_line_begin(char out[SFB_LIVE_LINE_MAX],
                           const uint64_t numbers[SFB_LIVE_BEGIN_NUMBERS], const char *path)
{
    struct line line;
    size_t size;

    put_head(&line, SFB_LIVE_HEAD_BEGIN);
    for (int i = 0; i < SFB_LIVE_BEGIN_NUMBERS; i++)
        put_number(&line, numbers[i]);
    put(&line, path, (size_t)numbers[SFB_LIVE_BEGIN_PATH_SIZE]);
    size = put_pid(out, numbers[SFB_LIVE_BEGIN_PID]);
    size += put_text(out + size, "begins ");
    return finish(out, size, SFB_LIVE_LINE_HEAD, &line);
}

size_t sfb_live_line_list(char out[SFB_LIVE_LINE_MAX], uint64_t pid, uint64_t list)
{
    struct line line;
    size_t size = put_pid(out, pid);

    put_head(&line, SFB_LIVE_HEAD_LIST);
    put_number(&line, list);
    size += put_text(out + size, "modules ");
    return finish(out, size, SFB_LIVE_LINE_HEAD, &line);
}

static size_t put_amount(char *out, uint64_t pid, uint64_t blocks, uint64_t bytes)
{
    size_t size = put_pid(out, pid);

    size += put_decimal(out + size, blocks);
    size += put_text(out + size, " blocks ");
    size += put_decimal(out + size, bytes);
    size += put_text(out + size, " bytes ");
    return size;
}

size_t sfb_live_line_end(char out[SFB_LIVE_LINE_MAX], uint64_t pid,
                         const uint64_t numbers[SFB_LIVE_END_NUMBERS])
{
    struct line line;
    size_t size;

    put_head(&line, SFB_LIVE_HEAD_END);
    for (int i = 0; i < SFB_LIVE_END_NUMBERS; i++)
        put_number(&line, numbers[i]);
    size = put_amount(out, pid, numbers[SFB_LIVE_END_BLOCKS], numbers[SFB_LIVE_END_BYTES]);
    size += put_text(out + size, "in all ");
    return finish(out, size, SFB_LIVE_LINE_HEAD, &line);
}

size_t sfb_live_line_module(char out[SFB_LIVE_LINE_MAX], uint64_t pid, const void *map,
                            size_t map_size)
{
    struct line line;
    size_t size = put_pid(out, pid);

    line.size = 0;
    line.full = false;
    put(&line, map, map_size);
    size += put_text(out + size, "module ");
    return finish(out, size, SFB_LIVE_LINE_MODULE, &line);
}

void sfb_live_stack_numbers(uint64_t out[SFB_LIVE_STACK_NUMBERS],
                            const struct sfb_live_amount *amount, uint64_t overruns_freed)
{
    out[SFB_LIVE_STACK_BLOCKS] = sfb_live_count(amount->blocks);
    out[SFB_LIVE_STACK_BYTES] = sfb_live_count(amount->bytes);
    out[SFB_LIVE_STACK_OVERRUNS] = amount->overruns;
    out[SFB_LIVE_STACK_OVERRUNS_FREED] = overruns_freed;
    out[SFB_LIVE_STACK_SAMPLES] =
        amount->samples == out[SFB_LIVE_STACK_BLOCKS] ? 0 : amount->samples;
    out[SFB_LIVE_STACK_BLOCKS_VARIANCE] = sfb_live_count(amount->blocks_variance);
    out[SFB_LIVE_STACK_BYTES_VARIANCE] = sfb_live_count(amount->bytes_variance);
}

size_t sfb_live_line_stack(char out[SFB_LIVE_LINE_MAX], uint64_t pid, const void *cbf,
                           size_t cbf_size, const uint64_t numbers[SFB_LIVE_STACK_NUMBERS])
{
    uint64_t count = SFB_LIVE_STACK_NUMBERS;
    struct line line;

    line.size = 0;
    line.full = false;
    put(&line, cbf, cbf_size);
    while (count > 2 && numbers[count - 1] == 0)
        count--;
    put_number(&line, count);
    for (uint64_t i = 0; i < count; i++)
        put_number(&line, numbers[i]);
    return finish(
        out, put_amount(out, pid, numbers[SFB_LIVE_STACK_BLOCKS], numbers[SFB_LIVE_STACK_BYTES]),
        SFB_LIVE_LINE_STACK, &line);
}
