#include "profiler/collector/live/heap_log.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "sfb/cbf.h"
#include "sfb/image_map.h"
#include "util/base64.h"
#include "util/counted.h"
#include "util/grow.h"

enum { PREFIX = 3, BEFORE_MAX = 256, LIST_SIZE_MAX = 1 << 24 };

struct stack {
    uint32_t list; /* index */
    uint32_t cbf_size;
    uint8_t *cbf;
    uint64_t numbers[SFB_LIVE_STACK_NUMBERS];
};

struct list {
    uint64_t number;
    uint8_t **module; /* compact ImageMaps of one image each */
    size_t *size;
    size_t count, room;
};

struct dump {
    uint64_t pid;
    uint64_t line; /* its first line */
    uint64_t begin[SFB_LIVE_BEGIN_NUMBERS];
    char *path;
    struct list *lists;
    size_t list_count, list_room;
    struct stack *stacks;
    size_t stack_count, stack_room;
    uint64_t end[SFB_LIVE_END_NUMBERS];
    bool ended;
};

struct heap_log {
    struct dump *dumps; /* the last one of each process */
    size_t count, room;
};

/* --- bytes ------------------------------------------------------------------------------------------ */

struct bytes {
    const uint8_t *at;
    size_t left;
    bool failed;
};

static uint64_t take_number(struct bytes *b)
{
    uint64_t value = 0;

    for (unsigned shift = 0; b->left > 0 && shift < 64; shift += 7) {
        const uint8_t byte = *b->at++;

        b->left--;
        value |= (uint64_t)(byte & 0x7f) << shift;
        if (!(byte & 0x80))
            return value;
    }
    b->failed = true;
    return 0;
}

static void take_numbers(struct bytes *b, uint64_t *out, size_t count)
{
    for (size_t i = 0; i < count; i++)
        out[i] = take_number(b);
}

static void *copy(const void *bytes, size_t size)
{
    void *to = malloc(size > 0 ? size : 1);

    return to ? memcpy(to, bytes, size) : NULL;
}

/* --- dumps ------------------------------------------------------------------------------------------ */

static void dump_free(struct dump *d)
{
    for (size_t i = 0; i < d->list_count; i++) {
        for (size_t k = 0; k < d->lists[i].count; k++)
            free(d->lists[i].module[k]);
        free(d->lists[i].module);
        free(d->lists[i].size);
    }
    for (size_t i = 0; i < d->stack_count; i++)
        free(d->stacks[i].cbf);
    free(d->lists);
    free(d->stacks);
    free(d->path);
    *d = (struct dump){ 0 };
}

static struct dump *dump_of(struct heap_log *log, uint64_t pid)
{
    for (size_t i = 0; i < log->count; i++)
        if (log->dumps[i].pid == pid)
            return &log->dumps[i];
    return NULL;
}

#define NO_MEMORY "out of memory"
#define DAMAGED   "damaged"
#define NOT_BEGUN "the line that begins the dump is missing"
#define CUT_SHORT "cut off"

/* A process's new dump replaces its last one. */
static const char *take_begin(struct heap_log *log, struct bytes *b, uint64_t line)
{
    struct dump dump = { .line = line };
    struct dump *old;

    take_numbers(b, dump.begin, SFB_LIVE_BEGIN_NUMBERS);
    dump.pid = dump.begin[SFB_LIVE_BEGIN_PID];
    if (b->failed || b->left != dump.begin[SFB_LIVE_BEGIN_PATH_SIZE] || b->left > SFB_LIVE_TEXT)
        return DAMAGED;
    dump.path = strndup((const char *)b->at, b->left);
    if (!dump.path)
        return NO_MEMORY;
    dump.begin[SFB_LIVE_BEGIN_PATH_SIZE] = strlen(dump.path);
    old = dump_of(log, dump.pid);
    if (old) {
        dump_free(old);
        *old = dump;
        return NULL;
    }
    if (!array_make_room(&log->dumps, log->count, &log->room, sizeof *log->dumps)) {
        free(dump.path);
        return NO_MEMORY;
    }
    log->dumps[log->count++] = dump;
    return NULL;
}

static const char *add_list(struct dump *d, uint64_t number)
{
    if (!array_make_room(&d->lists, d->list_count, &d->list_room, sizeof *d->lists))
        return NO_MEMORY;
    d->lists[d->list_count++] = (struct list){ .number = number };
    return NULL;
}

static const char *take_head(struct heap_log *log, uint64_t pid, struct bytes *b, uint64_t line)
{
    const uint64_t version = take_number(b), kind = take_number(b);
    struct dump *d;

    if (b->failed)
        return DAMAGED;
    if (version != SFB_LIVE_LINES_VERSION)
        return "of a later version";
    if (kind == SFB_LIVE_HEAD_BEGIN)
        return take_begin(log, b, line);
    d = dump_of(log, pid);
    if (!d || d->ended)
        return NOT_BEGUN;
    if (kind == SFB_LIVE_HEAD_LIST) {
        const uint64_t number = take_number(b);

        return b->failed ? DAMAGED : add_list(d, number);
    }
    if (kind != SFB_LIVE_HEAD_END)
        return DAMAGED;
    take_numbers(b, d->end, SFB_LIVE_END_UNSEEN);
    d->end[SFB_LIVE_END_UNSEEN] = b->left > 0 ? take_number(b) : 0; /* later than the others */
    d->ended = !b->failed;
    return b->failed ? DAMAGED : NULL;
}

static const char *take_module(struct dump *d, const struct bytes *b)
{
    struct list *list;

    if (d->list_count == 0)
        return NOT_BEGUN;
    list = &d->lists[d->list_count - 1];
    if (list->count == list->room) {
        size_t room = list->room;

        if (!array_make_room(&list->size, list->count, &room, sizeof *list->size) ||
            !array_make_room(&list->module, list->count, &list->room, sizeof *list->module))
            return NO_MEMORY;
    }
    list->module[list->count] = copy(b->at, b->left);
    if (!list->module[list->count])
        return NO_MEMORY;
    list->size[list->count++] = b->left;
    return NULL;
}

/* @return bytes of the CBF at the start; 0: no CBF */
static size_t cbf_size(const struct bytes *b)
{
    struct sfb_cbf_decoder_options options = { .size = sizeof options,
                                               .flags = SFB_CBF_STREAM | SFB_CBF_REQUIRE_END };
    struct sfb_cbf_decoder decoder;
    struct sfb_cbf_item item;
    enum sfb_status status;

    if (sfb_cbf_decoder_init(&decoder, b->at, b->left, &options, NULL) != SFB_OK)
        return 0;
    while ((status = sfb_cbf_decoder_next(&decoder, &item, NULL)) == SFB_OK)
        ;
    return status == SFB_END ? sfb_cbf_decoder_consumed(&decoder) : 0;
}

static const char *take_stack(struct dump *d, struct bytes *b)
{
    struct stack stack = { .cbf_size = (uint32_t)cbf_size(b) };
    const uint8_t *const cbf = b->at;
    uint64_t count;

    if (stack.cbf_size == 0)
        return DAMAGED;
    b->at += stack.cbf_size;
    b->left -= stack.cbf_size;
    if (b->left == 0)
        return NULL; /* a backtrace outside of a dump */
    count = take_number(b);
    if (count < 2 || count > SFB_LIVE_STACK_NUMBERS)
        return DAMAGED;
    take_numbers(b, stack.numbers, count);
    if (b->failed || b->left > 0)
        return DAMAGED;
    if (!d || d->ended || (d->list_count == 0 && add_list(d, 0)))
        return NOT_BEGUN;
    stack.list = (uint32_t)d->list_count - 1;
    stack.cbf = copy(cbf, stack.cbf_size);
    if (!stack.cbf ||
        !array_make_room(&d->stacks, d->stack_count, &d->stack_room, sizeof *d->stacks)) {
        free(stack.cbf);
        return NO_MEMORY;
    }
    d->stacks[d->stack_count++] = stack;
    return NULL;
}

/* --- lines ------------------------------------------------------------------------------------------ */

/* Parses the pid before the prefix: "heap[12] ". @return false: no pid */
static bool pid_before(const char *line, const char *prefix, uint64_t *out)
{
    const size_t word = sizeof SFB_LIVE_LINE_OF - 1;
    const char *at = prefix;

    if (prefix - line > BEFORE_MAX)
        line = prefix - BEFORE_MAX;
    while (at-- > line) {
        uint64_t value = 0;

        if ((size_t)(prefix - at) < word || memcmp(at, SFB_LIVE_LINE_OF, word) != 0)
            continue;
        for (at += word; at < prefix && *at >= '0' && *at <= '9'; at++)
            value = 10 * value + (uint64_t)(*at - '0');
        *out = value;
        return at < prefix && *at == ']';
    }
    return false;
}

/* @return whether the line is part of a dump; then *prefix points to its prefix */
static bool find_prefix(const char *line, size_t size, const char **prefix, uint64_t *pid)
{
    const char *const end = line + size;

    for (const char *at = line; (at = memchr(at, '~', (size_t)(end - at))) != NULL; at++)
        if (end - at >= PREFIX && at[2] == '#' && (at[1] == 'h' || at[1] == 'i' || at[1] == 'c') &&
            pid_before(line, at, pid)) {
            *prefix = at;
            return true;
        }
    return false;
}

static const char *take_line(struct heap_log *log, const char *prefix, size_t size, uint64_t pid,
                             uint64_t number)
{
    const size_t length = base64_length(prefix + PREFIX, size - PREFIX);
    uint8_t *decoded = malloc(length / 4 * 3 + 3);
    struct bytes b = { .at = decoded };
    const char *cause = NULL;

    if (!decoded)
        return NO_MEMORY;
    if (length == 0 || base64_read(prefix + PREFIX, length, decoded, &b.left) != NULL) {
        cause = CUT_SHORT;
    } else if (prefix[1] == 'h') {
        cause = take_head(log, pid, &b, number);
    } else {
        struct dump *d = dump_of(log, pid);

        if (prefix[1] == 'c')
            cause = take_stack(d, &b);
        else
            cause = d && !d->ended ? take_module(d, &b) : NOT_BEGUN;
    }
    free(decoded);
    return cause;
}

/* Gets the next line from *at on. @return false: end of the text */
static bool next_line(const struct input *input, size_t *at, const char **line, size_t *size)
{
    const char *const text = (const char *)input->data, *newline;

    if (*at >= input->size)
        return false;
    *line = text + *at;
    newline = memchr(*line, '\n', input->size - *at);
    *size = newline ? (size_t)(newline - *line) : input->size - *at;
    *at += *size + 1;
    return true;
}

bool heap_log_is_in(const struct input *input)
{
    const char *line, *prefix;
    size_t at = 0, size;
    uint64_t pid;

    while (next_line(input, &at, &line, &size))
        if (find_prefix(line, size, &prefix, &pid) && prefix[1] == 'h')
            return true;
    return false;
}

/* One report per dump: a missing line makes the following ones useless. */
static void judge(const struct heap_log *log, const struct input *input,
                  const struct reporter *reporter)
{
    for (size_t i = 0; i < log->count; i++) {
        const struct dump *d = &log->dumps[i];

        if (d->ended && d->stack_count == d->end[SFB_LIVE_END_STACKS])
            continue;
        if (d->ended)
            reporter_say(reporter, REPORTED_BAD_DATA,
                         "%s: line %lu: of the dump of process %lu, %lu of %s there", input->name,
                         (unsigned long)d->line, (unsigned long)d->pid,
                         (unsigned long)d->stack_count,
                         counted(d->end[SFB_LIVE_END_STACKS], "stacks are").text);
        else
            reporter_say(reporter, REPORTED_BAD_DATA,
                         "%s: line %lu: the dump of process %lu has no end", input->name,
                         (unsigned long)d->line, (unsigned long)d->pid);
    }
}

struct heap_log *heap_log_read(const struct input *input, const struct reporter *reporter)
{
    struct heap_log *log = calloc(1, sizeof *log);
    size_t at = 0, size;
    const char *line, *prefix;
    uint64_t number = 0, pid;
    const char *cause = log ? NULL : NO_MEMORY;

    while (log && next_line(input, &at, &line, &size)) {
        number++;
        if (!find_prefix(line, size, &prefix, &pid))
            continue;
        cause = take_line(log, prefix, size - (size_t)(prefix - line), pid, number);
        if (cause && strcmp(cause, NO_MEMORY) == 0)
            break;
        if (cause)
            reporter_say(reporter, REPORTED_BAD_DATA, "%s: line %lu: %s", input->name,
                         (unsigned long)number, cause);
        cause = NULL;
    }
    if (cause) {
        reporter_say(reporter, REPORTED_UNREADABLE, "%s: %s", input->name, strerror(ENOMEM));
        heap_log_free(log);
        return NULL;
    }
    judge(log, input, reporter);
    return log;
}

/* --- visits ----------------------------------------------------------------------------------------- */

/* Joins the images of a list. @return bytes written to out */
static size_t make_map(const struct list *list, uint8_t *out, size_t size)
{
    struct sfb_image_map_prefix prefixes[SFB_IMAGE_MAP_PREFIXES], lent[64];
    char text[2 * SFB_IMAGE_PATH_MAX];
    const struct sfb_image_map_room room = { text, sizeof text, lent, sizeof lent / sizeof *lent };
    struct sfb_image_map_encoder encoder;

    if (sfb_image_map_encoder_init(&encoder, out, size, 64, "", prefixes, SFB_IMAGE_MAP_PREFIXES) !=
        SFB_OK)
        return 0;
    for (size_t i = 0; i < list->count; i++) {
        struct sfb_image_map_decoder decoder;
        struct sfb_image image;

        if (sfb_image_map_decoder_init(&decoder, list->module[i], list->size[i], &room, NULL) ==
                SFB_OK &&
            sfb_image_map_decoder_next(&decoder, &image, NULL) == SFB_OK)
            sfb_image_map_encoder_put(&encoder, &image);
    }
    return sfb_image_map_encoder_end(&encoder);
}

static bool visit(const struct dump *d, uint8_t *map, const struct sfb_live_visitor *v)
{
    size_t s = 0;

    if (v->begin && !v->begin(v->user, d->begin, d->path))
        return false;
    for (size_t i = 0; i < d->list_count; i++) {
        const struct list *list = &d->lists[i];

        if (v->list && !v->list(v->user, list->number, 0, map, make_map(list, map, LIST_SIZE_MAX)))
            return false;
        for (; s < d->stack_count && d->stacks[s].list == i; s++)
            if (v->stack &&
                !v->stack(v->user, d->stacks[s].cbf, d->stacks[s].cbf_size, d->stacks[s].numbers))
                return false;
    }
    return !v->end || v->end(v->user, d->end);
}

bool heap_log_visit(const struct heap_log *log, const struct sfb_live_visitor *visitor)
{
    uint8_t *map = malloc(LIST_SIZE_MAX);
    bool good = map && log->count > 0;

    for (size_t i = 0; good && i < log->count; i++)
        good = visit(&log->dumps[i], map, visitor);
    free(map);
    return good;
}

void heap_log_free(struct heap_log *log)
{
    if (!log)
        return;
    for (size_t i = 0; i < log->count; i++)
        dump_free(&log->dumps[i]);
    free(log->dumps);
    free(log);
}
