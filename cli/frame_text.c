#include "cli/frame_text.h"

#include <inttypes.h>
#include <stdbool.h>
#include <stdio.h>
#include <string.h>

#include <sfb/cbf.h>

#include "util/number.h"

static const struct {
    const char *name;
    enum frame_text_what what;
    enum sfb_frame_kind kind;
} words[] = {
    { "pc", FRAME_TEXT_FRAME, SFB_FRAME_PC },
    { "ra", FRAME_TEXT_FRAME, SFB_FRAME_RA },
    { "async", FRAME_TEXT_FRAME, SFB_FRAME_ASYNC },
    { "omit", FRAME_TEXT_FRAME, SFB_FRAME_OMIT },
    { "rep", FRAME_TEXT_REP, SFB_FRAME_PC },
    { "bits", FRAME_TEXT_BITS, SFB_FRAME_PC },
    { "end", FRAME_TEXT_END, SFB_FRAME_PC },
    { "truncated", FRAME_TEXT_TRUNCATED, SFB_FRAME_PC },
    { "trunc", FRAME_TEXT_TRUNCATED, SFB_FRAME_PC },
};

/* A part of a line. */
struct token {
    const char *at;
    size_t length;
};

static bool is_blank(char c)
{
    return c == ' ' || c == '\t' || c == '\r';
}

static struct token next_token(struct token *line)
{
    struct token token;

    while (line->length > 0 && is_blank(*line->at)) {
        line->at++;
        line->length--;
    }
    token = (struct token){ line->at, 0 };
    while (token.length < line->length && !is_blank(token.at[token.length]))
        token.length++;
    line->at += token.length;
    line->length -= token.length;
    return token;
}

static const char *parse_operand(struct frame_text *out, struct token token)
{
    const char *cause = number_parse(token.at, token.length, &out->value);

    if (cause)
        return cause;
    if (out->what == FRAME_TEXT_REP && out->value == 0)
        return "rep 0";
    if (out->what == FRAME_TEXT_REP && out->value > SFB_CBF_REP_MAX)
        return "more than 2^20 repeats in one rep";
    if (out->what == FRAME_TEXT_FRAME && out->kind == SFB_FRAME_OMIT && out->value == 0)
        return "omit 0";
    if (out->what == FRAME_TEXT_BITS && out->value != 16 && out->value != 32 && out->value != 64)
        return "words have 16, 32 or 64 bits";
    return NULL;
}

const char *frame_text_parse(struct frame_text *out, const char *line, size_t length)
{
    const char *comment = memchr(line, '#', length);
    struct token rest = { line, comment ? (size_t)(comment - line) : length };
    struct token word = next_token(&rest);
    const char *cause = NULL;
    size_t i = 0;

    out->what = comment ? FRAME_TEXT_COMMENT : FRAME_TEXT_EMPTY;
    if (word.length == 0)
        return NULL;
    while (strlen(words[i].name) != word.length || memcmp(words[i].name, word.at, word.length) != 0)
        if (++i == sizeof words / sizeof *words)
            return "unknown word (pc, ra, async, omit, rep, bits, end, truncated)";
    out->what = words[i].what;
    out->kind = words[i].kind;
    out->value = 0;
    if (out->what != FRAME_TEXT_END && out->what != FRAME_TEXT_TRUNCATED)
        cause = parse_operand(out, next_token(&rest));
    if (!cause && next_token(&rest).length > 0)
        cause = "something follows on the line";
    return cause;
}

int frame_text_print(enum sfb_frame_kind kind, uint64_t value)
{
    switch (kind) {
    case SFB_FRAME_PC: return printf("pc 0x%" PRIx64, value);
    case SFB_FRAME_RA: return printf("ra 0x%" PRIx64, value);
    case SFB_FRAME_ASYNC: return printf("async 0x%" PRIx64, value);
    case SFB_FRAME_OMIT: return printf("omit %" PRIu64, value);
    }
    return 0;
}
