#include "cli/symbolize/address_batch.h"

#include <errno.h>
#include <inttypes.h>
#include <poll.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "cli/tool.h"
#include "util/grow.h"
#include "util/hex.h"

enum {
    LINES_MAX = 1 << 17,
    PIECE = 1 << 16,
    SHOWN_MAX = 64, /* bytes of them */
    PAUSE = 20      /* milliseconds: a program that asks and waits gets its answer */
};

bool address_parse(const char *text, uint64_t *out)
{
    size_t digits;

    text += strspn(text, " \t");
    text += strncmp(text, "0x", 2) == 0 ? 2 : 0;
    digits = hex_number(text, strlen(text), out);
    return digits > 0 && text[digits + strspn(text + digits, " \t\r\n")] == '\0';
}

/* @param text  without its newline; there is a NUL behind it */
static bool add_line(struct address_batch *b, const char *text, size_t size)
{
    struct address_line line = { .address = 0 };
    struct address_line *lines =
        array_grow(b->lines, b->count, &b->room, sizeof *lines, LINES_MAX + 1);

    if (!lines)
        return false;
    b->number++;
    line.good = strlen(text) == size && address_parse(text, &line.address);
    if (!line.good && b->bad++ < ADDRESS_COMPLAINTS) {
        const size_t shown = strcspn(text, "\r");

        tool_complain(TOOL_BAD_DATA, "stdin:%" PRIu64 ": no address: %.*s", b->number,
                      shown < SHOWN_MAX ? (int)shown : SHOWN_MAX, text);
    }
    b->lines = lines;
    b->lines[b->count++] = line;
    return true;
}

/* Takes whole lines off the text; at the end of the input what is behind the last one, too. */
static bool take_lines(struct address_batch *b)
{
    size_t at = 0;
    bool good = true;

    while (good && b->count < LINES_MAX && at < b->text_size) {
        char *line = b->text + at, *end = memchr(line, '\n', b->text_size - at);

        if (!end && !b->ended)
            break;
        if (!end)
            end = b->text + b->text_size;
        *end = '\0';
        good = add_line(b, line, (size_t)(end - line));
        at = (size_t)(end - b->text) + 1;
    }
    if (at > b->text_size)
        at = b->text_size;
    memmove(b->text, b->text + at, b->text_size - at);
    b->text_size -= at;
    return good;
}

static bool read_piece(struct address_batch *b)
{
    char *text = b->text;
    ssize_t got;

    if (b->text_room - b->text_size < PIECE + 1) {
        text = realloc(text, 2 * b->text_room + 2 * PIECE);
        if (!text)
            return false;
        b->text = text;
        b->text_room = 2 * b->text_room + 2 * PIECE;
    }
    do
        got = read(b->fd, text + b->text_size, PIECE);
    while (got < 0 && errno == EINTR);
    if (got < 0)
        b->error = errno;
    b->ended = got <= 0;
    b->text_size += got > 0 ? (size_t)got : 0;
    return true;
}

static bool has_more(const struct address_batch *b)
{
    struct pollfd fd = { .fd = b->fd, .events = POLLIN };

    return poll(&fd, 1, PAUSE) != 0;
}

bool address_batch_read(struct address_batch *b)
{
    bool good;

    b->count = 0;
    good = b->text_size == 0 || take_lines(b);
    while (good && !b->ended && b->count < LINES_MAX && (b->count == 0 || has_more(b)))
        good = read_piece(b) && take_lines(b);
    if (good)
        return b->count > 0;
    b->error = ENOMEM;
    return false;
}

void address_batch_free(struct address_batch *b)
{
    free(b->lines);
    free(b->text);
}
