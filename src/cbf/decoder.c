/*
 * Bytes to frames: one call for a frame or a run of equal frames.
 *
 * An instruction is validated as a whole before any of it is kept. A call that fails leaves the decoder
 * unchanged, so the next call gives the same status. Faults are checked in a fixed order (opcode, size,
 * width, meaning, limits), so that two readers report the same one.
 */
#include "sfb/cbf.h"

#include "base/sized.h"
#include "cbf/common.h"
#include "cbf/format.h"

#define KNOWN_FLAGS (SFB_CBF_SWIFT | SFB_CBF_STREAM | SFB_CBF_REQUIRE_END | SFB_CBF_EXPAND)

static enum sfb_status fail(struct sfb_error *error, enum sfb_status status, const char *field,
                            size_t offset)
{
    if (error != NULL)
        *error = (struct sfb_error){ .status = status, .field = field, .offset = offset };
    return status;
}

enum sfb_status sfb_cbf_decoder_init(struct sfb_cbf_decoder *out, const void *data, size_t size,
                                     const struct sfb_cbf_decoder_options *options,
                                     struct sfb_error *error)
{
    static const struct sfb_cbf_decoder_options defaults = { .size = sizeof defaults };
    const struct sfb_cbf_decoder_options *how = options != NULL ? options : &defaults;
    struct sfb_cbf_decoder_options translated;
    const uint8_t *bytes = data;
    enum sfb_status status;
    unsigned code;

    if (out == NULL)
        return fail(error, SFB_BAD_ARGUMENT, "out", 0);
    if (data == NULL && size > 0)
        return fail(error, SFB_BAD_ARGUMENT, "data", 0);
    if (how->size != sizeof *how) { /* else in place: a copy costs stack */
        status = sfb_sized_read(&translated, sizeof translated, how);
        if (status != SFB_OK)
            return fail(error, status, "options", 0);
        how = &translated;
    }
    if ((how->flags & ~(uint32_t)KNOWN_FLAGS) != 0)
        return fail(error, SFB_BAD_ARGUMENT, "options", 0);
    if (size == 0)
        return fail(error, SFB_CBF_EMPTY, "info byte", 0);
    if (bytes[0] >> CBF_INFO_VERSION_SHIFT != CBF_VERSION)
        return fail(error, SFB_CBF_VERSION, "info byte", 0);
    code = bytes[0] & CBF_INFO_SIZE_MASK;
    if (code == CBF_INFO_SIZE_RESERVED)
        return fail(error, SFB_CBF_SIZE, "info byte", 0);

    *out = (struct sfb_cbf_decoder){
        .data = bytes,
        .size = size,
        .offset = 1,
        .max_frames = how->max_frames > 0 ? how->max_frames : UINT64_MAX,
        .flags = how->flags,
        .word = (uint8_t)(2u << code),
    };
    /* Swift's encoder starts from an address of 0, and so writes its first one relative to that. */
    out->have_last = (out->flags & SFB_CBF_SWIFT) != 0;
    return SFB_OK;
}

/* Reads the operand of the instruction at offset, zero-extended. */
static enum sfb_status read_operand(const struct sfb_cbf_decoder *d, size_t size, const char *field,
                                    uint64_t *out, struct sfb_error *error)
{
    const uint8_t *at = d->data + d->offset + 1;
    uint64_t v = 0;

    if (size > d->size - d->offset - 1)
        return fail(error, SFB_CBF_TRUNCATED_OPERAND, field, d->size);
    if (size > d->word)
        return fail(error, SFB_CBF_TOO_WIDE, field, d->offset);
    for (size_t i = 0; i < size; i++)
        v = v << 8 | at[i];
    *out = v;
    return SFB_OK;
}

/* Checks that the frames of an instruction are within the limit. */
static enum sfb_status count_frames(const struct sfb_cbf_decoder *d, uint64_t count,
                                    struct sfb_error *error)
{
    if (count > d->max_frames - d->frames)
        return fail(error, SFB_CBF_FRAME_LIMIT, "opcode", d->offset);
    return SFB_OK;
}

/* Keeps a valid instruction, and steps behind it. */
static void accept(struct sfb_cbf_decoder *d, struct sfb_cbf_item item)
{
    d->frames += item.count;
    d->offset += item.size;
    d->item = item;
}

static enum sfb_status read_address(struct sfb_cbf_decoder *d, unsigned opcode,
                                    struct sfb_error *error)
{
    static const char *const fields[] = { "pc operand", "ra operand", "async operand" };
    unsigned kind = (opcode >> 4) - 1;
    size_t size = (opcode & CBF_ADDRESS_COUNT) + 1;
    bool relative = (opcode & CBF_ADDRESS_ABSOLUTE) == 0;
    enum sfb_status status;
    uint64_t v;

    status = read_operand(d, size, fields[kind], &v, error);
    if (status != SFB_OK)
        return status;
    if (relative && !d->have_last)
        return fail(error, SFB_CBF_RELATIVE_FIRST, "opcode", d->offset);
    status = count_frames(d, 1, error);
    if (status != SFB_OK)
        return status;

    v = cbf_sign_extend(v, 64 - 8 * (unsigned)size);
    if (relative)
        v += d->last;
    d->last = v & UINT64_MAX >> (64 - 8 * d->word);
    d->have_last = true;
    accept(d, (struct sfb_cbf_item){
                  .kind = (enum sfb_frame_kind)kind,
                  .value = d->last,
                  .count = 1,
                  .relative = relative,
                  .offset = d->offset,
                  .size = 1 + size,
              });
    return SFB_OK;
}

static enum sfb_status read_omit(struct sfb_cbf_decoder *d, unsigned opcode,
                                 struct sfb_error *error)
{
    uint64_t frames = (opcode & CBF_OMIT_COUNT) + 1;
    size_t size = 0;
    enum sfb_status status;

    if (opcode & CBF_OMIT_LONG) {
        size = (size_t)frames;
        status = read_operand(d, size, "omit operand", &frames, error);
        if (status != SFB_OK)
            return status;
        if (frames == 0)
            return fail(error, SFB_CBF_OMIT_ZERO, "omit operand", d->offset);
    }
    status = count_frames(d, 1, error);
    if (status != SFB_OK)
        return status;
    accept(d, (struct sfb_cbf_item){
                  .kind = SFB_FRAME_OMIT,
                  .value = frames,
                  .count = 1,
                  .offset = d->offset,
                  .size = 1 + size,
              });
    return SFB_OK;
}

static enum sfb_status read_rep(struct sfb_cbf_decoder *d, unsigned opcode, struct sfb_error *error)
{
    uint64_t count = (opcode & CBF_REP_COUNT) + 1;
    size_t size = 0;
    struct sfb_cbf_item item = d->item;
    enum sfb_status status;

    if (opcode & CBF_REP_LONG) {
        size = (size_t)count;
        status = read_operand(d, size, "rep operand", &count, error);
        if (status != SFB_OK)
            return status;
    }
    if (item.count == 0)
        return fail(error, SFB_CBF_REP_FIRST, "opcode", d->offset);
    if (count == 0)
        return fail(error, SFB_CBF_REP_ZERO, "rep operand", d->offset);
    if (count > SFB_CBF_REP_MAX)
        return fail(error, SFB_CBF_REP_LIMIT, "rep operand", d->offset);
    status = count_frames(d, count, error);
    if (status != SFB_OK)
        return status;

    item.count = count;
    item.repeat = true;
    item.relative = false;
    item.offset = d->offset;
    item.size = 1 + size;
    accept(d, item);
    if (d->flags & SFB_CBF_EXPAND) {
        d->pending = count - 1;
        d->item.count = 1;
    }
    return SFB_OK;
}

static enum sfb_status read_end(struct sfb_cbf_decoder *d, unsigned opcode, struct sfb_error *error)
{
    size_t behind = d->offset + 1;

    if (behind < d->size && (d->flags & SFB_CBF_STREAM) == 0)
        return fail(error, SFB_CBF_TRAILING_DATA, "trailing data", behind);
    d->offset = behind;
    d->ended = true;
    d->truncated = opcode == CBF_OP_TRUNC;
    return SFB_END;
}

/* Out of the way of the common address, which then needs no stack. */
static __attribute__((noinline)) enum sfb_status read_instruction(struct sfb_cbf_decoder *d,
                                                                  struct sfb_error *error)
{
    unsigned opcode = d->data[d->offset];

    if (opcode <= CBF_OP_TRUNC)
        return read_end(d, opcode, error);
    if (opcode < CBF_OP_PC || opcode >= CBF_OP_RESERVED)
        return fail(error, SFB_CBF_RESERVED_OPCODE, "opcode", d->offset);
    if (opcode < CBF_OP_OMIT)
        return read_address(d, opcode, error);
    if (opcode < CBF_OP_REP)
        return read_omit(d, opcode, error);
    return read_rep(d, opcode, error);
}

enum sfb_status sfb_cbf_decoder_next(struct sfb_cbf_decoder *decoder, struct sfb_cbf_item *out,
                                     struct sfb_error *error)
{
    struct sfb_cbf_decoder *d = decoder;
    enum sfb_status status = SFB_OK;
    const size_t common = cbf_next_common(d);

    if (common > 0) {
        d->item.offset = d->offset - common;
        d->item.size = common;
        d->item.relative = (d->data[d->item.offset] & CBF_ADDRESS_ABSOLUTE) == 0;
        d->item.repeat = false;
    } else if (d->pending > 0)
        d->pending--;
    else if (d->ended)
        status = SFB_END;
    else if (d->offset < d->size)
        status = read_instruction(d, error);
    else if (d->flags & SFB_CBF_REQUIRE_END)
        status = fail(error, SFB_CBF_NO_END, "terminator", d->size);
    else
        status = SFB_END;
    if (status == SFB_OK)
        *out = d->item;
    return status;
}

bool sfb_cbf_decoder_truncated(const struct sfb_cbf_decoder *decoder)
{
    return decoder->truncated;
}

size_t sfb_cbf_decoder_consumed(const struct sfb_cbf_decoder *decoder)
{
    return decoder->offset;
}

unsigned sfb_cbf_decoder_word_bits(const struct sfb_cbf_decoder *decoder)
{
    return 8u * decoder->word;
}
