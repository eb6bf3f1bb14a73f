#include "cli/crash_report.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "crash/grammar.h"
#include "util/foreign.h"
#include "util/hex.h"

/* A part of the input: a line, or what is left of one. */
struct text {
    const char *at;
    size_t size;
};

static struct text line_at(const struct input *input, size_t offset)
{
    struct text line = { (const char *)input->data + offset, input->size - offset };
    const char *newline = memchr(line.at, '\n', line.size);

    if (newline)
        line.size = (size_t)(newline - line.at);
    return line;
}

static size_t behind(const struct input *input, size_t offset, struct text line)
{
    offset += line.size + 1;
    return offset < input->size ? offset : input->size;
}

static bool skip(struct text *line, const char *start)
{
    size_t size = strlen(start);

    if (line->size < size || memcmp(line->at, start, size) != 0)
        return false;
    line->at += size;
    line->size -= size;
    return true;
}

static bool is(struct text text, const char *what)
{
    return text.size == strlen(what) && memcmp(text.at, what, text.size) == 0;
}

/* The next word, and the blank behind it. */
static struct text next_word(struct text *line)
{
    const char *blank = memchr(line->at, ' ', line->size);
    struct text word = { line->at, blank ? (size_t)(blank - line->at) : line->size };
    size_t size = word.size + (blank != NULL);

    line->at += size;
    line->size -= size;
    return word;
}

static bool parse_hex(struct text *text, uint64_t *out)
{
    size_t digits;

    if (!skip(text, SFB_CRASH_HEX))
        return false;
    digits = hex_number(text->at, text->size, out);
    text->at += digits;
    text->size -= digits;
    return digits > 0;
}

/* Hex text to the end of what is there. @return its bytes, which may be none; negative: wrong */
static ssize_t parse_bytes(struct text text, uint8_t *out, size_t room)
{
    uint8_t *copy;
    size_t size = text.size, at;
    bool good;

    if (size == 0)
        return 0;
    copy = malloc(size);
    if (!copy)
        return -1;
    memcpy(copy, text.at, size);
    good = !hex_bytes(copy, &size, &at) && size <= room;
    if (good)
        memcpy(out, copy, size);
    free(copy);
    return good ? (ssize_t)size : -1;
}

/* Undoes sfb_text_foreign(). @return a string, NULL: no memory */
static char *unescape(struct text text)
{
    char *out = malloc(text.size + 1);
    size_t n = 0;

    if (!out)
        return NULL;
    for (size_t i = 0; i < text.size; i++) {
        const char *c = text.at + i;

        if (*c == '\\' && text.size - i > 3 && c[1] >= '0' && c[1] <= '3' && c[2] >= '0' &&
            c[2] <= '7' && c[3] >= '0' && c[3] <= '7') {
            out[n++] = (char)((c[1] - '0') << 6 | (c[2] - '0') << 3 | (c[3] - '0'));
            i += 3;
        } else if (*c != '\0') {
            out[n++] = *c;
        }
    }
    out[n] = '\0';
    return out;
}

/* A line of a report has its escapes already; what is no report's may have more. */
static char *printable(struct text text)
{
    const size_t room = FOREIGN_ESCAPE * text.size + 1;
    char *out = malloc(room);

    if (out)
        foreign_escape(out, room, text.at, text.size, FOREIGN_ESCAPED);
    return out;
}

/* @return NULL, or what is wrong with the line */
static const char *add_cbf(struct crash_cbf *cbf, struct text line)
{
    uint8_t *more;
    ssize_t size;

    if (cbf->cut)
        return NULL;
    cbf->cut = true; /* unless all is well: what comes behind a gap means something else */
    more = realloc(cbf->bytes, cbf->size + line.size / 2 + 1);
    if (!more)
        return "out of memory";
    cbf->bytes = more;
    size = parse_bytes(line, more + cbf->size, line.size / 2);
    if (size < 0)
        return "not hexadecimal text";
    cbf->size += (size_t)size;
    cbf->cut = false;
    return NULL;
}

/* A register's block, or a line of the stack that allocated the last one. Its frames are in the CBF, too. */
static const char *add_block(struct crash_report *report, struct text line)
{
    struct crash_block *more;

    if (skip(&line, SFB_CRASH_CBF))
        return report->block_count > 0 ? add_cbf(&report->blocks[report->block_count - 1].cbf, line)
                                       : "a stack without a block";
    if (skip(&line, SFB_CRASH_FRAME) || skip(&line, SFB_CRASH_REPEATED) ||
        skip(&line, SFB_CRASH_OMITTED))
        return NULL;
    if ((report->block_count & (report->block_count - 1)) == 0) { /* full: a power of two */
        more = reallocarray(report->blocks, report->block_count ? 2 * report->block_count : 1,
                            sizeof *more);
        if (!more)
            return "out of memory";
        report->blocks = more;
    }
    report->blocks[report->block_count] = (struct crash_block){ .text = printable(line) };
    if (!report->blocks[report->block_count].text)
        return "out of memory";
    report->block_count++;
    return NULL;
}

/* "0x1000-0x2000 build-id 0a1b /usr/lib/libfoo.so" */
static const char *add_module(struct crash_report *report, struct text line)
{
    struct loaded_module module = { .size = 0 };
    struct loaded_module *more;
    struct text id;

    if (!parse_hex(&line, &module.start) || !skip(&line, SFB_CRASH_TO) ||
        !parse_hex(&line, &module.end) || !skip(&line, SFB_CRASH_BUILD_ID) ||
        module.end <= module.start)
        return "not what a module looks like";
    id = next_word(&line);
    if (!is(id, SFB_CRASH_NO_BUILD_ID)) {
        ssize_t size = parse_bytes(id, module.build_id, sizeof module.build_id);

        if (size < 0)
            return "not what a build-id looks like";
        module.size = (size_t)size;
    }
    if ((report->module_count & (report->module_count - 1)) == 0) { /* full: a power of two */
        const size_t room = report->module_count ? 2 * report->module_count : 1;

        more = reallocarray(report->modules, room, sizeof *more);
        if (!more)
            return "out of memory";
        report->modules = more;
    }
    module.path = unescape(line);
    if (!module.path)
        return "out of memory";
    report->modules[report->module_count++] = module;
    return NULL;
}

/*
 * An int3 and a system call that a filter refused are over when the signal comes; after all other
 * faults the pc is that of the instruction at fault.
 */
static bool is_behind(struct text headline)
{
    return skip(&headline, "SIGTRAP (5) code SI_KERNEL") ||
           skip(&headline, "SIGSYS (31) code SYS_SECCOMP");
}

/* A headline is the prefix and a signal; the handler's last words have the prefix, too. */
static bool is_headline(struct text *line)
{
    struct text rest = *line, name;

    if (!skip(&rest, SFB_CRASH_PREFIX))
        return false;
    name = rest;
    if (!skip(&name, "SIG"))
        return false;
    *line = rest;
    return true;
}

static const char *add_line(struct crash_report *report, struct text line)
{
    if (skip(&line, SFB_CRASH_CBF))
        return add_cbf(&report->cbf, line);
    if (skip(&line, SFB_CRASH_BLOCK))
        return add_block(report, line);
    if (skip(&line, SFB_CRASH_MODULE))
        return add_module(report, line);
    if (!report->truncated && skip(&line, SFB_CRASH_TRUNCATED))
        report->truncated = printable(line);
    report->complete = is(line, SFB_CRASH_END);
    return NULL;
}

/* @return the offset behind the headline; SIZE_MAX: no headline found */
static size_t find_headline(struct crash_report *out, const struct input *input, size_t offset)
{
    while (offset < input->size) {
        struct text line = line_at(input, offset), headline = line;

        out->start = offset;
        offset = behind(input, offset, line);
        if (is_headline(&headline)) {
            out->headline = printable(headline);
            out->pc_is_behind = is_behind(headline);
            return offset;
        }
    }
    return SIZE_MAX;
}

bool crash_report_read(struct crash_report *out, const struct input *input, size_t *offset,
                       enum tool_exit *exit_status)
{
    size_t at = find_headline(out, input, *offset);
    bool complained = false;

    if (at == SIZE_MAX)
        return false;
    while (at < input->size && !out->complete) {
        struct text line = line_at(input, at), next = line;
        const char *cause;

        if (is_headline(&next))
            break;
        cause = add_line(out, line);
        if (cause && !complained) {
            *exit_status =
                tool_complain(TOOL_BAD_DATA, "%s: text+0x%zx: %s", input->name, at, cause);
            complained = true;
        }
        at = behind(input, at, line);
    }
    *offset = at;
    return true;
}

void crash_report_free(struct crash_report *report)
{
    for (size_t i = 0; i < report->module_count; i++)
        free(report->modules[i].path);
    for (size_t i = 0; i < report->block_count; i++) {
        free(report->blocks[i].text);
        free(report->blocks[i].cbf.bytes);
    }
    free(report->modules);
    free(report->blocks);
    free(report->cbf.bytes);
    free(report->headline);
    free(report->truncated);
    *report = (struct crash_report){ .module_count = 0 };
}
