#include "contrib/lws/lws_lines.h"

#include <inttypes.h>
#include <string.h>

#include "util/base64.h"

#define PREFIX "~m#"

/* Bytes of a note at most: its length has 16 bits. A note of 31 addresses has less than 300. */
enum { NOTE_MAX = 0xffff, TEXT_MAX = (NOTE_MAX + 2) / 3 * 4 };

struct reading {
    const struct input *input;
    enum lws_dialect dialect;
    bool (*visit)(void *user, const struct lws_note *note);
    void *user;
    uint64_t line;
    const struct reporter *reporter;
    bool line_is_bad, any_is_bad, stopped;
    size_t notes;
};

static void report_line(struct reading *r, const char *cause)
{
    if (!r->line_is_bad)
        reporter_say(r->reporter, REPORTED_BAD_DATA, "%s: line %" PRIu64 ": %s", r->input->name,
                     r->line, cause);
    r->line_is_bad = r->any_is_bad = true;
}

/* @return NULL, or what is wrong with it */
static const char *read_text(const struct reading *r, const char *text, size_t size,
                             struct lws_note *note)
{
    uint8_t bytes[TEXT_MAX / 4 * 3 + 3];
    const char *cause;
    size_t count;

    if (size == 0)
        return "nothing behind " PREFIX;
    if (size > TEXT_MAX)
        return "a note of more than 64 KiB";
    cause = base64_read(text, size, bytes, &count);
    return cause ? cause : lws_note_read(note, bytes, count, r->dialect);
}

static void take(struct reading *r, const struct lws_note *note)
{
    r->notes++;
    r->stopped = !r->visit(r->user, note);
}

static void read_marked(struct reading *r, const char *text, size_t size)
{
    struct lws_note note;
    const char *cause = read_text(r, text, base64_length(text, size), &note);

    if (cause)
        report_line(r, cause);
    else
        take(r, &note);
}

/* A line without a mark. Words of a log are base64, too: their last bytes are not their length. */
static void read_bare(struct reading *r, const char *text, size_t size)
{
    struct lws_note note;

    while (size > 0 && strchr(" \t\r", text[size - 1]))
        size--;
    if (size > 0 && base64_length(text, size) == size && !read_text(r, text, size, &note))
        take(r, &note);
}

static void read_line(struct reading *r, const char *text, size_t size)
{
    const char *at = text, *const end = text + size;
    bool marked = false;

    r->line_is_bad = false;
    while (!r->stopped && (at = memchr(at, PREFIX[0], (size_t)(end - at))) != NULL) {
        const bool here =
            (size_t)(end - at) >= sizeof PREFIX - 1 && memcmp(at, PREFIX, sizeof PREFIX - 1) == 0;

        at += here ? sizeof PREFIX - 1 : 1;
        if (here)
            read_marked(r, at, (size_t)(end - at));
        marked |= here;
    }
    if (!marked)
        read_bare(r, text, size);
}

bool lws_lines_each(const struct input *input, enum lws_dialect dialect,
                    bool (*visit)(void *user, const struct lws_note *note), void *user,
                    const struct reporter *reporter)
{
    struct reading r = {
        .input = input, .dialect = dialect, .visit = visit, .user = user, .reporter = reporter
    };
    const char *text = (const char *)input->data;

    for (size_t at = 0; at < input->size && !r.stopped;) {
        const char *newline = memchr(text + at, '\n', input->size - at);
        const size_t end = newline ? (size_t)(newline - text) : input->size;

        r.line++;
        read_line(&r, text + at, end - at);
        at = end + 1;
    }
    if (r.notes == 0 && !r.any_is_bad) {
        reporter_say(reporter, REPORTED_BAD_DATA, "%s: no line has a note: " PREFIX " and base64",
                     input->name);
        return false;
    }
    return !r.any_is_bad;
}
