#include "cli/backtraces.h"

#include <inttypes.h>

#include "cli/tool_files.h"

static enum sfb_status complain(struct backtraces *b, const struct sfb_error *error)
{
    b->error = *error;
    if (b->quiet)
        return error->status;
    tool_complain(TOOL_BAD_DATA, "%s: +0x%" PRIx64 ": %s: %s", b->input.name,
                  b->base + error->offset, error->field, sfb_status_str(error->status));
    return error->status;
}

bool backtraces_open(struct backtraces *out, const char *path, bool hex, uint32_t flags,
                     enum tool_exit *exit_status)
{
    *out = (struct backtraces){ .flags = flags | SFB_CBF_STREAM };
    if (!tool_read(&out->input, path)) {
        *exit_status = TOOL_USAGE;
        return false;
    }
    if (hex && !tool_read_hex(&out->input)) {
        *exit_status = TOOL_BAD_DATA;
        input_free(&out->input);
        return false;
    }
    return true;
}

enum sfb_status backtraces_next(struct backtraces *b)
{
    struct sfb_cbf_decoder_options options = { .size = sizeof options, .flags = b->flags };
    struct sfb_error error = { SFB_OK, "data", 0 };

    if (b->begun) {
        b->base += sfb_cbf_decoder_consumed(&b->decoder);
        if (b->base == b->input.size)
            return SFB_END;
    }
    b->begun = true;
    if (sfb_cbf_decoder_init(&b->decoder, b->input.data + b->base, b->input.size - b->base,
                             &options, &error) != SFB_OK)
        return complain(b, &error);
    return SFB_OK;
}

enum sfb_status backtraces_frame(struct backtraces *b, struct sfb_cbf_item *out)
{
    struct sfb_error error = { SFB_OK, "data", 0 };
    enum sfb_status status = sfb_cbf_decoder_next(&b->decoder, out, &error);

    return status == SFB_OK || status == SFB_END ? status : complain(b, &error);
}

void backtraces_close(struct backtraces *b)
{
    input_free(&b->input);
}
