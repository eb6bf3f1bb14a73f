/* Fields to bytes: the reader's work backwards, one byte at a time. */
#include "section_bytes.h"

#include <assert.h>

const struct abi_case abi_cases[3] = {
    { SFB_ABI_AARCH64_BE, 0 },
    { SFB_ABI_AARCH64_LE, 0 },
    { SFB_ABI_AMD64_LE, -8 },
};

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
        put(b, size, i < 3 ? (uint32_t)row->offset[i] : 0, big);
}

size_t fde_at(const struct layout *layout, size_t index)
{
    return 28u + layout->aux_size + layout->fde_gap + index * 17;
}

struct bytes section_bytes(const struct layout *layout)
{
    const bool big = layout->abi == SFB_ABI_AARCH64_BE;
    const uint32_t fdes_size = 17 * layout->function_count;
    struct bytes b = { .n = 0 };
    size_t fres;
    uint32_t rows = 0;

    put(&b, 2, 0xdee2, big);
    put(&b, 1, 1, big);
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
        uint8_t *fde = b.at + fde_at(layout, i);

        put_at(fde, 4, (uint32_t)f->start, big);
        put_at(fde + 4, 4, f->size, big);
        put_at(fde + 8, 4, (uint32_t)(b.n - fres), big);
        put_at(fde + 12, 4, f->row_count, big);
        put_at(fde + 16, 1, f->info, big);
        for (uint32_t k = 0; k < f->row_count; k++)
            put_row(&b, &f->rows[k], f->info, big);
        rows += f->row_count;
    }
    put_at(b.at + AT_NUM_FRES, 4, rows, big);
    put_at(b.at + AT_FRE_LEN, 4, (uint32_t)(b.n - fres), big);
    return b;
}

void bytes_set(struct bytes *b, size_t at, size_t width, uint32_t value)
{
    assert(at + width <= b->n);
    put_at(b->at + at, width, value, b->at[0] == 0xde);
}
