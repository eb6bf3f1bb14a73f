/* sfb encode: the inverse of sfb decode. */
#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <sfb/cbf.h>

#include "cli/frame_text.h"
#include "cli/log_lines.h"
#include "cli/options.h"
#include "cli/tool.h"
#include "cli/tool_files.h"
#include "util/base64.h"

enum encode_option { OPTION_BITS = OPTION_FIRST, OPTION_HEX, OPTION_LOG };

/* A position in the text, copied to come back to it. */
struct cursor {
    const char *at;
    const char *end;
    uint64_t line; /* number of the line read last */
    bool more;     /* an empty line was read: there is another backtrace */
};

/* One backtrace on its way. */
struct encoding {
    struct sfb_cbf_encoder encoder;
    uint8_t *buffer;
    size_t size;
    unsigned bits;
    struct frame_text last; /* what `rep` repeats */
    bool have_last, ended, truncated;
    const char *cause; /* what is wrong with the line read last */
};

static bool next_line(struct cursor *c, const char **line, size_t *length)
{
    const char *newline;

    if (c->at == c->end)
        return false;
    newline = memchr(c->at, '\n', (size_t)(c->end - c->at));
    *line = c->at;
    *length = (size_t)((newline ? newline : c->end) - c->at);
    c->at = newline ? newline + 1 : c->end;
    c->line++;
    return true;
}

/* @return SFB_OK, also where the frame is wrong and the cause set; or SFB_BUFFER_FULL */
static enum sfb_status put(struct encoding *e, const struct frame_text *frame, uint64_t times)
{
    while (times-- > 0) {
        enum sfb_status status = sfb_cbf_encoder_put(&e->encoder, frame->kind, frame->value);

        if (status == SFB_BUFFER_FULL)
            return status;
        if (status != SFB_OK) {
            e->cause = "the number is wider than the word";
            break;
        }
    }
    return SFB_OK;
}

static enum sfb_status put_line(struct encoding *e, const struct frame_text *line)
{
    enum sfb_status status;

    if (e->ended && line->what != FRAME_TEXT_COMMENT) {
        e->cause = "a line behind the end; an empty line starts the next backtrace";
        return SFB_OK;
    }
    switch (line->what) {
    case FRAME_TEXT_EMPTY:
    case FRAME_TEXT_COMMENT: break;
    case FRAME_TEXT_FRAME:
        status = put(e, line, 1);
        if (status != SFB_OK)
            return status;
        e->last = *line;
        e->have_last = true;
        break;
    case FRAME_TEXT_REP:
        if (e->have_last)
            return put(e, &e->last, line->value);
        e->cause = "rep with no frame before it";
        break;
    case FRAME_TEXT_BITS:
        if (e->have_last)
            e->cause = "bits behind the first frame";
        else
            return sfb_cbf_encoder_init(&e->encoder, e->buffer, e->size, (unsigned)line->value);
        break;
    case FRAME_TEXT_END:
    case FRAME_TEXT_TRUNCATED:
        e->ended = true;
        e->truncated = line->what == FRAME_TEXT_TRUNCATED;
        break;
    }
    return SFB_OK;
}

/* Reads the lines of one backtrace into the buffer. @return SFB_OK, or SFB_BUFFER_FULL */
static enum sfb_status encode_lines(struct encoding *e, struct cursor *c)
{
    const char *line;
    size_t length;
    enum sfb_status status = sfb_cbf_encoder_init(&e->encoder, e->buffer, e->size, e->bits);

    c->more = false;
    while (status == SFB_OK && !e->cause && next_line(c, &line, &length)) {
        struct frame_text text;

        e->cause = frame_text_parse(&text, line, length);
        if (e->cause)
            break;
        if (text.what == FRAME_TEXT_EMPTY) {
            c->more = true;
            break;
        }
        status = put_line(e, &text);
    }
    return status;
}

/*
 * Encodes one backtrace, with as large a buffer as it takes.
 *
 * Where the buffer is full it is doubled and the backtrace read again from its first line: that
 * costs less than twice the time. An upper bound from the number of lines would need to know how
 * many bytes a `rep` may take in each word size, and moving the buffer of a running encoder is
 * not something that the encoder allows.
 */
static enum sfb_status encode_one(struct encoding *e, struct cursor *c)
{
    for (size_t size = e->size;; size *= 2) {
        struct encoding fresh = { .buffer = e->buffer, .size = size, .bits = e->bits };
        struct cursor start = *c;

        if (size != e->size || !e->buffer) {
            free(e->buffer);
            fresh.buffer = malloc(size);
        }
        *e = fresh;
        if (!e->buffer)
            return SFB_BUFFER_FULL;
        if (encode_lines(e, &start) == SFB_OK) {
            *c = start;
            return SFB_OK;
        }
    }
}

static void print_hex(const uint8_t *bytes, size_t size)
{
    for (size_t i = 0; i < size; i++)
        printf("%02x", bytes[i]);
    putchar('\n');
}

/* How the bytes of a backtrace are written. */
enum form { BYTES, HEX, LOG_LINE };

static void write_bytes(const uint8_t *data, size_t size, enum form form)
{
    switch (form) {
    case BYTES: fwrite(data, 1, size, stdout); break;
    case HEX: print_hex(data, size); break;
    case LOG_LINE:
        fputs(LOG_LINE_PREFIX, stdout);
        base64_print(stdout, data, size);
        putchar('\n');
        break;
    }
}

static enum tool_exit encode_all(const struct input *input, unsigned bits, enum form form)
{
    const char *text = (const char *)input->data;
    struct cursor cursor = { text, text + input->size, 0, false };
    struct encoding e = { .size = (size_t)64 << 10, .bits = bits };
    enum tool_exit exit_status = TOOL_DONE;

    do {
        size_t size;

        if (encode_one(&e, &cursor) != SFB_OK) {
            exit_status = tool_complain(TOOL_USAGE, "%s: %s", input->name, strerror(ENOMEM));
            break;
        }
        /* What stood before a wrong line is kept, and says that there was more. */
        size = sfb_cbf_encoder_end(&e.encoder, e.truncated || e.cause);
        write_bytes(e.buffer, size, form);
        if (e.cause)
            exit_status = tool_complain(TOOL_BAD_DATA, "%s: line %" PRIu64 ": %s", input->name,
                                        cursor.line, e.cause);
    } while (cursor.more && !e.cause && !ferror(stdout));
    free(e.buffer);
    return exit_status;
}

/* @return 0: no size of a word */
static unsigned parse_bits(const char *text)
{
    return strcmp(text, "16") == 0   ? 16
           : strcmp(text, "32") == 0 ? 32
           : strcmp(text, "64") == 0 ? 64
                                     : 0;
}

static enum tool_exit run(const struct tool_command *command, int argc, char **argv)
{
    enum tool_exit exit_status = TOOL_DONE;
    unsigned bits = 64;
    bool hex = false, log = false;
    struct input input;

    for (int o; (o = options_next(command, argc, argv, &exit_status)) != -1;) {
        if (o == '?')
            return exit_status;
        hex |= o == OPTION_HEX;
        log |= o == OPTION_LOG;
        if (o == OPTION_BITS)
            bits = parse_bits(optarg);
        if (bits == 0)
            return tool_misused(command, "--bits is 16, 32 or 64, not '%s'", optarg);
    }
    if (hex && log)
        return tool_misused(command, "either --hex or --log");
    if (argc - optind > 1)
        return tool_misused(command, "more than one file given");
    if (!tool_read(&input, optind < argc ? argv[optind] : "-"))
        return TOOL_USAGE;
    exit_status = encode_all(&input, bits, log ? LOG_LINE : hex ? HEX : BYTES);
    input_free(&input);
    return exit_status;
}

static const struct tool_option options[] = {
    { OPTION_BITS, 0, "bits", TAKES_ARGUMENT, "N",
      "size of a machine word: 16, 32 or 64 (if not given); a line `bits N` at the start of a "
      "backtrace does the same for that one" },
    { OPTION_HEX, 0, "hex", TAKES_NOTHING, NULL,
      "write hexadecimal text, a line for each backtrace" },
    { OPTION_LOG, 0, "log", TAKES_NOTHING, NULL,
      "write lines for a log, which `sfb symbolize` finds in it: ~c# and base64" },
    OPTIONS_END,
};

static const struct option_group groups[] = { { NULL, options, NULL }, OPTION_GROUPS_END };

const struct tool_command tool_encode = {
    .name = "encode",
    .summary = "write Compact Backtrace Format from the lines that decode prints",
    .usage = "sfb encode [OPTION...] [FILE|-]",
    .about = "Reads frames as `sfb decode` prints them, with or without --raw, and writes them as "
             "Compact Backtrace Format, in the fewest bytes that the format allows. An empty line "
             "starts the next backtrace, even at the end of the input. Numbers are decimal, or "
             "hexadecimal after 0x; # begins a comment. `sfb decode --help` says what a line is.\n",
    .options = groups,
    .exits = "Exit status 1: a line is wrong. The frames before it are written, as a truncated "
             "backtrace, and stderr says which line it is.\n",
    .run = run,
};
