/* Fields to bytes: the reader's work backwards, one byte at a time. */
#include "eh_frame_bytes.h"

#include <assert.h>
#include <string.h>

const enum sfb_abi eh_abis[3] = { SFB_ABI_AARCH64_BE, SFB_ABI_AARCH64_LE, SFB_ABI_AMD64_LE };

static void put_at(uint8_t *at, size_t width, uint64_t value, bool big)
{
    for (size_t i = 0; i < width; i++)
        at[big ? width - 1 - i : i] = (uint8_t)(value >> 8 * i);
}

/* A list of bytes that grows. */
struct sink {
    uint8_t *at;
    size_t n, room;
    bool big;
};

static void put(struct sink *s, size_t width, uint64_t value)
{
    assert(s->n + width <= s->room);
    put_at(s->at + s->n, width, value, s->big);
    s->n += width;
}

static void put_uleb(struct sink *s, uint64_t value)
{
    do {
        put(s, 1, (value & 0x7f) | (value > 0x7f ? 0x80u : 0u));
        value >>= 7;
    } while (value != 0);
}

static void put_sleb(struct sink *s, int64_t value)
{
    bool more = true;

    while (more) {
        more = value < -64 || value > 63;
        put(s, 1, ((uint64_t)value & 0x7f) | (more ? 0x80u : 0u));
        value = value < 0 ? ~(~value >> 7) : value >> 7;
    }
}

static void put_items(struct sink *s, const struct item *items)
{
    for (; items && items->kind != ITEMS_END; items++) {
        switch (items->kind) {
        case BYTES_1: put(s, 1, items->value); break;
        case BYTES_2: put(s, 2, items->value); break;
        case BYTES_4: put(s, 4, items->value); break;
        case BYTES_8: put(s, 8, items->value); break;
        case ULEB: put_uleb(s, items->value); break;
        case SLEB: put_sleb(s, (int64_t)items->value); break;
        case FILL:
            for (uint64_t i = 0; i < items->value; i++)
                put(s, 1, 0);
            break;
        case ITEMS_END: break;
        }
    }
}

size_t eh_items_put(uint8_t *at, size_t room, const struct item *items, enum sfb_abi abi)
{
    struct sink s = { .at = at, .room = room, .big = abi == SFB_ABI_AARCH64_BE };

    put_items(&s, items);
    return s.n;
}

/* An address, as an encoding says. */
static void put_address(struct sink *s, uint8_t encoding, uint64_t value, const struct eh_bytes *b)
{
    if (value != 0 && (encoding & 0x70) == 0x10)
        value -= b->address + s->n;
    if (value != 0 && (encoding & 0x70) == 0x30)
        value -= b->address + b->hdr;
    switch (encoding & 0x0f) {
    case 0x01: put_uleb(s, value); break;
    case 0x09: put_sleb(s, (int64_t)value); break;
    case 0x02:
    case 0x0a: put(s, 2, value); break;
    case 0x03:
    case 0x0b: put(s, 4, value); break;
    default: put(s, 8, value); break;
    }
}

static size_t open_entry(struct sink *s, bool is_long)
{
    put(s, 4, is_long ? UINT32_MAX : 0);
    if (is_long)
        put(s, 8, 0);
    return s->n;
}

static void close_entry(struct sink *s, size_t from, bool is_long)
{
    while ((s->n - from) % 8 != 4) /* DW_CFA_nop */
        put(s, 1, 0);
    put_at(s->at + from - (is_long ? 8 : 4), is_long ? 8 : 4, s->n - from, s->big);
}

static void put_cie(struct sink *s, const struct eh_layout *l, uint8_t encoding)
{
    static const struct item amd64[] = { B(0x0c), U(7), U(8), B(0x90), U(1), { ITEMS_END, 0 } };
    static const struct item aarch64[] = { B(0x0c), U(31), U(0), { ITEMS_END, 0 } };
    const bool is_amd64 = l->abi == SFB_ABI_AMD64_LE;
    const char *letters = l->augmentation ? l->augmentation : "zR";
    const size_t from = open_entry(s, l->long_lengths);
    uint8_t data[256] = { encoding };
    size_t data_size = 1;

    put(s, 4, 0);
    put(s, 1, l->cie_version ? l->cie_version : 1);
    for (const char *letter = letters; *letter; letter++)
        put(s, 1, (uint8_t)*letter);
    put(s, 1, 0);
    put_uleb(s, l->code_align ? l->code_align : is_amd64 ? 1 : 4);
    put_sleb(s, l->data_align ? l->data_align : -8);
    put(s, 1, l->ra_column ? l->ra_column : is_amd64 ? 16 : 30);
    if (letters[0] == 'z') {
        if (l->data)
            data_size = eh_items_put(data, sizeof data, l->data, l->abi);
        put_uleb(s, data_size);
        for (size_t i = 0; i < data_size; i++)
            put(s, 1, data[i]);
    }
    put_items(s, l->initial ? l->initial : is_amd64 ? amd64 : aarch64);
    close_entry(s, from, l->long_lengths);
}

static void put_fde(struct sink *s, const struct eh_layout *l, const struct eh_bytes *b,
                    uint8_t encoding, const struct eh_function *f)
{
    const size_t from = open_entry(s, l->long_lengths);
    uint8_t data[256];
    size_t data_size = eh_items_put(data, sizeof data, l->fde_data, l->abi);

    put(s, 4, s->n - b->cie);
    put_address(s, encoding, b->address + b->hdr + (uint64_t)f->start, b);
    put_address(s, encoding & 0x0f, f->size, b);
    if (!l->augmentation || l->augmentation[0] == 'z') {
        put_uleb(s, data_size);
        for (size_t i = 0; i < data_size; i++)
            put(s, 1, data[i]);
    }
    put_items(s, f->program);
    close_entry(s, from, l->long_lengths);
}

struct eh_bytes eh_frame_bytes(const struct eh_layout *l)
{
    struct eh_bytes b = { .hdr = l->gap, .abi = l->abi, .address = l->address };
    struct sink s = { .at = b.at, .room = sizeof b.at, .big = l->abi == SFB_ABI_AARCH64_BE };
    const uint8_t encoding = l->encoding ? (uint8_t)l->encoding : 0x1b;

    assert(l->count <= FUNCTIONS_MAX);
    memset(b.at, 0xff, l->gap);
    s.n = l->gap;
    put(&s, 4, 0); /* below, as bytes */
    b.at[b.hdr] = 1;
    b.at[b.hdr + 1] = 0x1b; /* eh_frame_ptr: pcrel sdata4 */
    b.at[b.hdr + 2] = 0x03; /* fde_count: udata4 */
    b.at[b.hdr + 3] = 0x3b; /* the table: datarel sdata4 */
    put(&s, 4, 0);
    put(&s, 4, l->count);
    b.table = s.n;
    s.n += l->count * 8;
    put_at(b.at + b.hdr + 4, 4, s.n - (b.hdr + 4), s.big);
    b.cie = s.n;
    put_cie(&s, l, encoding);
    b.cie_end = s.n;
    for (uint32_t i = 0; i < l->count; i++) {
        b.fde[i] = s.n;
        put_at(b.at + b.table + i * 8, 4, (uint64_t)l->functions[i].start, s.big);
        put_at(b.at + b.table + i * 8 + 4, 4, b.fde[i] - b.hdr, s.big);
        put_fde(&s, l, &b, encoding, &l->functions[i]);
    }
    b.n = s.n;
    return b;
}

void eh_bytes_set(struct eh_bytes *b, size_t at, size_t width, uint64_t value)
{
    assert(at + width <= b->n);
    put_at(b->at + at, width, value, b->abi == SFB_ABI_AARCH64_BE);
}

enum sfb_status eh_bytes_open(struct sfb_eh_frame *out, const struct eh_bytes *b,
                              const uint8_t *data, size_t size)
{
    return sfb_eh_frame_open(out, data, size, b->address, b->address + b->hdr, b->abi, NULL);
}
