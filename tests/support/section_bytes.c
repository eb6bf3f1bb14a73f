/* Fields to bytes: the reader's work backwards, one byte at a time. */
#include "section_bytes.h"

#include <assert.h>

const struct abi_case abi_cases[3] = {
    { SFB_ABI_AARCH64_BE, 0 },
    { SFB_ABI_AARCH64_LE, 0 },
    { SFB_ABI_AMD64_LE, -8 },
};

#define ABIS(version, flags)                                                                       \
    { { SFB_ABI_AARCH64_BE, 0 }, version, flags }, { { SFB_ABI_AARCH64_LE, 0 }, version, flags },  \
    {                                                                                              \
        { SFB_ABI_AMD64_LE, -8 }, version, flags                                                   \
    }

const struct form forms[FORM_COUNT] = { ABIS(1, 0), ABIS(2, 0), ABIS(2, FIELD_RELATIVE), ABIS(3, 0),
                                        ABIS(3, FIELD_RELATIVE) };

static void put_at(uint8_t *at, size_t width, uint64_t value, bool big)
{
    for (size_t i = 0; i < width; i++)
        at[big ? width - 1 - i : i] = (uint8_t)(value >> 8 * i);
}

static void put(struct bytes *b, size_t width, uint64_t value, bool big)
{
    assert(b->n + width <= sizeof b->at);
    put_at(b->at + b->n, width, value, big);
    b->n += width;
}

static void put_row(struct bytes *b, const struct row *row, uint8_t function_info, bool big)
{
    const size_t start_size = (size_t)1 << (function_info & 3);
    const size_t count = row->info >> 1 & 15, size = (size_t)1 << (row->info >> 5 & 3);

    put(b, start_size, row->start, big);
    put(b, 1, row->info, big);
    for (size_t i = 0; i < count; i++)
        put(b, size, i < 6 ? (uint32_t)row->offset[i] : 0, big);
}

static unsigned version_of(const struct layout *layout)
{
    return layout->version == 0 ? 1 : layout->version;
}

static uint32_t entry_size(const struct layout *layout)
{
    static const uint8_t sizes[] = { 17, 20, 16 };

    return sizes[version_of(layout) - 1];
}

size_t fde_at(const struct layout *layout, size_t index)
{
    return 28u + layout->aux_size + layout->fde_gap + index * entry_size(layout);
}

static uint64_t get_at(const uint8_t *at, size_t width, bool big)
{
    uint64_t value = 0;

    for (size_t i = 0; i < width; i++)
        value = value << 8 | at[big ? i : width - 1 - i];
    return value;
}

size_t attribute_at(const struct layout *layout, size_t index, const struct bytes *b)
{
    const size_t fde = fde_at(layout, index);

    if (version_of(layout) < 3)
        return fde + 12;
    return fde_at(layout, layout->function_count) + layout->fre_gap +
           (size_t)get_at(b->at + fde + 12, 4, b->at[0] == 0xde);
}

/* 2.1.3 of version 3; and unsorted sections of older ones, which are as the assembler made them. */
static bool is_field_relative(const struct layout *layout)
{
    return (layout->flags & 4) != 0 || (version_of(layout) < 3 && (layout->flags & 1) == 0);
}

static void put_entry(struct bytes *b, const struct layout *layout, uint32_t index, size_t rows)
{
    const struct function *f = &layout->functions[index];
    const struct function_more more =
        layout->more ? layout->more[index] : (struct function_more){ 0, 0 };
    const bool big = layout->abi == SFB_ABI_AARCH64_BE;
    const size_t at = fde_at(layout, index);
    const int64_t base = is_field_relative(layout) ? (int64_t)at : 0;
    const uint64_t start = (uint64_t)f->start - (uint64_t)base;
    uint8_t *fde = b->at + at;

    if (version_of(layout) == 3) {
        put_at(fde, 8, start, big);
        put_at(fde + 8, 4, f->size, big);
        put_at(fde + 12, 4, rows, big);
        put(b, 2, f->row_count, big);
        put(b, 1, f->info, big);
        put(b, 1, more.info2, big);
        put(b, 1, more.repeat, big);
        return;
    }
    put_at(fde, 4, start, big);
    put_at(fde + 4, 4, f->size, big);
    put_at(fde + 8, 4, rows, big);
    put_at(fde + 12, 4, f->row_count, big);
    put_at(fde + 16, 1, f->info, big);
    if (version_of(layout) == 2) {
        put_at(fde + 17, 1, more.repeat, big);
        put_at(fde + 18, 2, 0xffff, big); /* padding, which nobody reads */
    }
}

struct bytes section_bytes(const struct layout *layout)
{
    const bool big = layout->abi == SFB_ABI_AARCH64_BE;
    const uint32_t fdes_size = entry_size(layout) * layout->function_count;
    struct bytes b = { .n = 0 };
    size_t fres;
    uint32_t rows = 0;

    put(&b, 2, 0xdee2, big);
    put(&b, 1, version_of(layout), big);
    put(&b, 1, layout->flags, big);
    put(&b, 1, layout->abi, big);
    put(&b, 1, (uint8_t)layout->fixed_fp, big);
    put(&b, 1, (uint8_t)layout->fixed_ra, big);
    put(&b, 1, layout->aux_size, big);
    put(&b, 4, layout->function_count, big);
    put(&b, 4, 0, big);
    put(&b, 4, 0, big);
    put(&b, 4, layout->fde_gap, big);
    put(&b, 4, layout->fde_gap + fdes_size + layout->fre_gap, big);

    /* What lies between the tables must not be read: 0xff would be refused wherever it counts. */
    for (unsigned i = 0; i < (unsigned)layout->aux_size + layout->fde_gap; i++)
        put(&b, 1, 0xff, big);
    b.n += fdes_size;
    for (unsigned i = 0; i < layout->fre_gap; i++)
        put(&b, 1, 0xff, big);

    fres = b.n;
    for (uint32_t i = 0; i < layout->function_count; i++) {
        const struct function *f = &layout->functions[i];

        put_entry(&b, layout, i, b.n - fres);
        for (uint32_t k = 0; k < f->row_count; k++)
            put_row(&b, &f->rows[k], f->info, big);
        rows += f->row_count;
    }
    put_at(b.at + AT_NUM_FRES, 4, rows, big);
    put_at(b.at + AT_FRE_LEN, 4, (uint32_t)(b.n - fres), big);
    return b;
}

void bytes_set(struct bytes *b, size_t at, size_t width, uint64_t value)
{
    assert(at + width <= b->n);
    put_at(b->at + at, width, value, b->at[0] == 0xde);
}
