/* sfb decode: Compact Backtrace Format as text, a frame or an instruction a line. */
#include <inttypes.h>
#include <stdio.h>

#include "cli/backtraces.h"
#include "cli/decode/lws_decode.h"
#include "cli/frame_text.h"
#include "cli/options.h"
#include "cli/tool.h"
#include "util/counted.h"

enum decode_option { OPTION_RAW = OPTION_FIRST, OPTION_SWIFT, OPTION_HEX, OPTION_LWS };

/* Column where the remarks of --raw begin. */
#define REMARK_COLUMN 28

static void print_remark(int written, const struct backtraces *b, size_t offset, size_t size,
                         const char *note)
{
    int padding = written < REMARK_COLUMN ? REMARK_COLUMN - written : 1;

    printf("%*s# +0x%zx, %s%s\n", padding, "", b->base + offset, counted(size, "bytes").text, note);
}

static void print_instruction(const struct backtraces *b, const struct sfb_cbf_item *item)
{
    const char *note = "";
    int written;

    if (item->repeat) {
        written = printf("rep %" PRIu64, item->count);
    } else {
        written = frame_text_print(item->kind, item->value);
        if (item->kind != SFB_FRAME_OMIT)
            note = item->relative ? ", relative" : ", absolute";
    }
    print_remark(written, b, item->offset, item->size, note);
}

static void print_frame(const struct sfb_cbf_item *item)
{
    frame_text_print(item->kind, item->value);
    putchar('\n');
}

/* @param behind  offset behind the last instruction: the terminator is there, or the data's end */
static void print_end(const struct backtraces *b, bool raw, size_t behind)
{
    bool truncated = sfb_cbf_decoder_truncated(&b->decoder);

    if (!raw && truncated)
        puts("truncated");
    if (raw && sfb_cbf_decoder_consumed(&b->decoder) > behind)
        print_remark(printf(truncated ? "trunc" : "end"), b, behind, 1, "");
}

static enum sfb_status decode_one(struct backtraces *b, bool raw)
{
    struct sfb_cbf_item item;
    enum sfb_status status;
    size_t behind = 1;

    if (raw && sfb_cbf_decoder_word_bits(&b->decoder) != 64)
        print_remark(printf("bits %u", sfb_cbf_decoder_word_bits(&b->decoder)), b, 0, 1, "");
    while ((status = backtraces_frame(b, &item)) == SFB_OK) {
        if (raw)
            print_instruction(b, &item);
        else
            print_frame(&item);
        behind = item.offset + item.size;
    }
    if (status == SFB_END)
        print_end(b, raw, behind);
    return status;
}

static enum tool_exit decode_all(struct backtraces *b, bool raw)
{
    enum sfb_status status;

    for (bool first = true; (status = backtraces_next(b)) == SFB_OK; first = false) {
        if (!first)
            putchar('\n');
        status = decode_one(b, raw);
        if (status != SFB_END)
            break;
    }
    return status == SFB_END ? TOOL_DONE : TOOL_BAD_DATA;
}

static enum tool_exit run(const struct tool_command *command, int argc, char **argv)
{
    enum tool_exit exit_status = TOOL_DONE;
    bool raw = false, swift = false, hex = false, lws = false;
    enum lws_dialect dialect = LWS_ANY;
    struct backtraces backtraces;

    for (int o; (o = options_next(command, argc, argv, &exit_status)) != -1;) {
        if (o == '?')
            return exit_status;
        raw |= o == OPTION_RAW;
        swift |= o == OPTION_SWIFT;
        hex |= o == OPTION_HEX;
        lws |= o == OPTION_LWS;
        if (o == OPTION_LWS && optarg && !lws_dialect_parse(optarg, &dialect))
            return tool_misused(command, "'%s' is no dialect: library or readme", optarg);
    }
    if (argc - optind > 1)
        return tool_misused(command, "more than one file given");
    if (lws && (raw || swift || hex))
        return tool_misused(command, "--lws reads a log, not CBF");
    if (lws)
        return lws_decode(optind < argc ? argv[optind] : "-", dialect);
    if (!backtraces_open(&backtraces, optind < argc ? argv[optind] : "-", hex,
                         (uint32_t)((swift ? SFB_CBF_SWIFT : 0) | (raw ? 0 : SFB_CBF_EXPAND)),
                         &exit_status))
        return exit_status;
    exit_status = decode_all(&backtraces, raw);
    backtraces_close(&backtraces);
    return exit_status;
}

static const struct tool_option options[] = {
    { OPTION_RAW, 0, "raw", TAKES_NOTHING, NULL,
      "print instructions: `rep N` stays one line, `end` and `trunc` show, words other than of 64 "
      "bits begin with `bits N`, and remarks after # say the byte offset and the size. `sfb "
      "encode` reads that, too" },
    { OPTION_SWIFT, 0, "swift", TAKES_NOTHING, NULL,
      "accept a first address that is relative, as Swift writes it" },
    { OPTION_HEX, 0, "hex", TAKES_NOTHING, NULL,
      "FILE is hexadecimal text; white space between bytes is ignored" },
    { OPTION_LWS, 0, "lws", TAKES_OPTIONAL, "DIALECT",
      "FILE is a log. Prints its notes of allocations, `~m#` and base64, as libwebsockets' "
      "decoder does: ~b#size: 7520, 0x406651 0x406852. DIALECT is library (with the bit that "
      "libwebsockets writes behind each field) or readme (without: its documentation); without "
      "it, the one that fits, note by note. Lines that are base64 of a note and nothing else are "
      "read, too" },
    OPTIONS_END,
};

static const struct option_group groups[] = { { NULL, options, NULL }, OPTION_GROUPS_END };

const struct tool_command tool_decode = {
    .name = "decode",
    .summary = "print a Compact Backtrace Format file, a frame a line",
    .usage = "sfb decode [OPTION...] [FILE|-]",
    .about = "Prints each frame of Compact Backtrace Format data, the innermost first:\n"
             "\n"
             "  pc 0x401136    a program counter\n"
             "  ra 0x401190    a return address\n"
             "  async 0x4011a0 the entry of an async resume function\n"
             "  omit 5         five frames that were left out\n"
             "  truncated      there were more frames\n"
             "\n"
             "Backtraces that stand back to back are separated by an empty line.\n",
    .options = groups,
    .exits = "Exit status 1: the data is wrong. Frames before the first bad byte are printed, and "
             "stderr says where that is. Of a log all lines are read, and each wrong one is "
             "named.\n",
    .run = run,
};
