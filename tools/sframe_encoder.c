/*
 * Layout: SFrame version 1, sections 1.1 to 1.4; what the text leaves open as binutils 2.40 writes
 * it (docs/FORMATS.md): starts count from the section, tables follow the header.
 */
#include "sframe_encoder.h"

#include <assert.h>
#include <stdlib.h>
#include <string.h>

enum {
    MAGIC = 0xdee2,
    VERSION = 1,
    HEADER_SIZE = 28,
    FDE_SIZE = 17,
    INFO_PCMASK = 0x10, /* 1.3.1 */
    INFO_KEY_B = 0x20,
    INFO_BASE_SP = 0x01, /* 1.4.1 */
    INFO_MANGLED_RA = 0x80,
    FIXED_RA_AMD64 = -8,
    ROW_SIZE_MAX = 4 + 1 + 3 * 4
};

struct synth_fde {
    int32_t start;
    uint32_t size;
    uint32_t row_count;
    uint8_t info;
    size_t run;
};

struct synth_run {
    size_t at, size; /* its bytes, in those of the encoder */
    uint32_t row_count;
    uint64_t hash;
    size_t holder; /* the run that it is the beginning of: itself, unless there is a longer one */
    uint64_t position;
    bool placed;
};

const char *synth_inexpressible(enum sfb_abi abi, const struct sfb_rule *rule)
{
    const bool amd64 = abi == SFB_ABI_AMD64_LE;

    if (rule->flags & SFB_RULE_OUTERMOST)
        return "the return address is undefined: outermost";
    if (rule->flags & SFB_RULE_SIGNAL)
        return "a signal frame";
    if (rule->flags & SFB_RULE_CFA_DEREF)
        return "the CFA is a word in memory";
    if (rule->cfa_base != SFB_BASE_SP && rule->cfa_base != SFB_BASE_FP)
        return "the CFA is counted from a register other than sp and fp";
    /* 1.4 allows it; readers cannot tell it from what binutils 2.40 writes for other registers. */
    if (rule->cfa_base == SFB_BASE_SP && rule->cfa_offset < (amd64 ? -FIXED_RA_AMD64 : 0))
        return "the CFA lies inside of the frame";
    if (rule->sp.where != SFB_WHERE_UNSAVED)
        return "sp has a rule of its own";
    if (amd64 && (rule->ra.where != SFB_WHERE_CFA || rule->ra.offset != FIXED_RA_AMD64))
        return "the return address is not at CFA-8";
    if (rule->ra.where != SFB_WHERE_UNSAVED && rule->ra.where != SFB_WHERE_CFA)
        return "the return address is neither in its register nor in the frame";
    if (rule->fp.where != SFB_WHERE_UNSAVED && rule->fp.where != SFB_WHERE_CFA)
        return "fp is saved neither in its register nor in the frame";
    /* Two offsets are CFA and RA. */
    if (!amd64 && rule->fp.where == SFB_WHERE_CFA && rule->ra.where == SFB_WHERE_UNSAVED)
        return "fp is saved and the return address is not";
    return NULL;
}

bool synth_in_reach(uint64_t section, uint64_t start)
{
    return (int64_t)(start - section) == (int32_t)(start - section);
}

void synth_encoder_init(struct synth_encoder *out, enum sfb_abi abi, uint64_t address)
{
    /* libsframe turns the rows of the other byte order around in place, function by function:
     * shared ones twice. Big-endian sections are read on little-endian machines nearly always. */
    *out = (struct synth_encoder){ .abi = abi,
                                   .address = address,
                                   .share = abi != SFB_ABI_AARCH64_BE };
}

void synth_encoder_free(struct synth_encoder *encoder)
{
    free(encoder->fdes);
    free(encoder->runs);
    free(encoder->table);
    free(encoder->bytes);
    *encoder = (struct synth_encoder){ .share = false };
}

/* Makes room for one more element. */
static bool reserve(void *array, size_t *capacity, size_t count, size_t more, size_t element)
{
    void *grown, *before;
    size_t wanted = *capacity ? *capacity : 64;

    while (wanted - count < more)
        wanted *= 2;
    if (wanted == *capacity)
        return true;
    memcpy(&before, array, sizeof before);
    grown = reallocarray(before, wanted, element);
    if (!grown)
        return false;
    memcpy(array, &grown, sizeof grown);
    *capacity = wanted;
    return true;
}

static uint8_t *put(uint8_t *to, uint64_t value, unsigned width, bool big)
{
    for (unsigned i = 0; i < width; i++)
        to[big ? width - 1 - i : i] = (uint8_t)(value >> 8 * i);
    return to + width;
}

/* log2 of the bytes that a signed number takes. */
static unsigned width_of(int32_t n)
{
    if (n == (int8_t)n)
        return 0;
    return n == (int16_t)n ? 1 : 2;
}

/* 1.3.3: log2 of the bytes that the starts of a function's rows take. */
static unsigned start_width(const struct synth_function *f)
{
    uint32_t last = f->rows[f->row_count - 1].start;

    if (last <= UINT8_MAX)
        return SFB_FRE_ADDR1;
    return last <= UINT16_MAX ? SFB_FRE_ADDR2 : SFB_FRE_ADDR4;
}

/* 1.4: start, info, then the offsets of CFA, RA (where the header does not fix it) and fp. */
static uint8_t *put_row(uint8_t *to, const struct synth_encoder *e, const struct synth_row *row,
                        unsigned start_log2)
{
    const struct sfb_rule *rule = &row->rule;
    const bool big = e->abi == SFB_ABI_AARCH64_BE;
    int32_t offset[3] = { rule->cfa_offset };
    unsigned count = 1, width = 0;
    uint8_t info;

    if (e->abi != SFB_ABI_AMD64_LE && rule->ra.where == SFB_WHERE_CFA)
        offset[count++] = rule->ra.offset;
    if (rule->fp.where == SFB_WHERE_CFA)
        offset[count++] = rule->fp.offset;
    for (unsigned i = 0; i < count; i++)
        if (width < width_of(offset[i]))
            width = width_of(offset[i]);
    info = (uint8_t)(count << 1 | width << 5);
    if (rule->cfa_base == SFB_BASE_SP)
        info |= INFO_BASE_SP;
    if (rule->flags & SFB_RULE_RA_SIGNED)
        info |= INFO_MANGLED_RA;
    to = put(to, row->start, 1u << start_log2, big);
    *to++ = info;
    for (unsigned i = 0; i < count; i++)
        to = put(to, (uint64_t)(int64_t)offset[i], 1u << width, big);
    return to;
}

static uint64_t hash_of(const uint8_t *bytes, size_t size)
{
    uint64_t hash = UINT64_C(0xcbf29ce484222325); /* FNV-1a */

    for (size_t i = 0; i < size; i++)
        hash = (hash ^ bytes[i]) * UINT64_C(0x100000001b3);
    return hash;
}

/* @return the place in the table of a run with these bytes, or the free one where it belongs */
static size_t *table_slot(const struct synth_encoder *e, uint64_t hash, const uint8_t *bytes,
                          size_t size)
{
    size_t i = (size_t)hash & (e->table_size - 1);

    for (;; i = (i + 1) & (e->table_size - 1)) {
        const struct synth_run *run;

        if (e->table[i] == 0)
            return &e->table[i];
        run = &e->runs[e->table[i] - 1];
        if (run->hash == hash && run->size == size && memcmp(e->bytes + run->at, bytes, size) == 0)
            return &e->table[i];
    }
}

/* Keeps the table at most half full. */
static bool grow_table(struct synth_encoder *e)
{
    size_t size = e->table_size ? e->table_size * 2 : 256;

    if (e->run_count < e->table_size / 2)
        return true;
    free(e->table);
    e->table = calloc(size, sizeof *e->table);
    e->table_size = e->table ? size : 0;
    for (size_t i = 0; e->table && i < e->run_count; i++)
        *table_slot(e, e->runs[i].hash, e->bytes + e->runs[i].at, e->runs[i].size) = i + 1;
    return e->table != NULL;
}

/* Takes the bytes that stand behind those of the runs as one more run, or finds that run. */
static bool add_run(struct synth_encoder *e, size_t size, uint32_t row_count, size_t *out)
{
    const uint64_t hash = hash_of(e->bytes + e->size, size);
    size_t *slot;

    if (!grow_table(e) || !reserve(&e->runs, &e->run_capacity, e->run_count, 1, sizeof *e->runs))
        return false;
    slot = table_slot(e, hash, e->bytes + e->size, size);
    if (e->share && *slot != 0) {
        *out = *slot - 1;
        return true;
    }
    e->runs[e->run_count] = (struct synth_run){
        .at = e->size, .size = size, .row_count = row_count, .hash = hash, .holder = e->run_count
    };
    *out = e->run_count++;
    *slot = e->run_count;
    e->size += size;
    return true;
}

bool synth_encoder_add(struct synth_encoder *e, const struct synth_function *f)
{
    const unsigned start_log2 = f->row_count ? start_width(f) : 0;
    struct synth_fde fde = { .start = (int32_t)(f->start - e->address),
                             .size = f->size,
                             .row_count = f->row_count,
                             .info = (uint8_t)start_log2 };
    uint8_t *end;

    assert(f->row_count > 0 && f->rows[0].start == 0);
    assert(synth_in_reach(e->address, f->start));
    if (f->type == SFB_FDE_PCMASK)
        fde.info |= INFO_PCMASK;
    if (f->rows[0].rule.flags & SFB_RULE_RA_KEY_B)
        fde.info |= INFO_KEY_B;
    if (e->fde_count == UINT32_MAX ||
        !reserve(&e->fdes, &e->fde_capacity, e->fde_count, 1, sizeof *e->fdes) ||
        !reserve(&e->bytes, &e->capacity, e->size, (size_t)f->row_count * ROW_SIZE_MAX, 1))
        return false;
    end = e->bytes + e->size;
    for (uint32_t i = 0; i < f->row_count; i++) {
        assert(synth_inexpressible(e->abi, &f->rows[i].rule) == NULL);
        end = put_row(end, e, &f->rows[i], start_log2);
    }
    if (!add_run(e, (size_t)(end - e->bytes) - e->size, f->row_count, &fde.run))
        return false;
    e->fdes[e->fde_count++] = fde;
    return true;
}

/* Sorted so that a run stands right before those that begin with it. */
static int compare_runs(const void *a, const void *b, void *encoder)
{
    const struct synth_encoder *e = encoder;
    const struct synth_run *x = &e->runs[*(const size_t *)a], *y = &e->runs[*(const size_t *)b];
    int order = memcmp(e->bytes + x->at, e->bytes + y->at, x->size < y->size ? x->size : y->size);

    if (order != 0)
        return order;
    return x->size < y->size ? -1 : x->size > y->size;
}

/* What is the first rows of another function need not be stored; the bytes alone decide. */
static bool find_holders(struct synth_encoder *e)
{
    size_t *order = calloc(e->run_count + 1, sizeof *order);

    if (!order)
        return false;
    for (size_t i = 0; i < e->run_count; i++)
        order[i] = i;
    qsort_r(order, e->run_count, sizeof *order, compare_runs, e);
    for (size_t i = e->run_count; i-- > 1;) {
        struct synth_run *run = &e->runs[order[i - 1]];
        const struct synth_run *next = &e->runs[order[i]];

        if (run->size <= next->size &&
            memcmp(e->bytes + run->at, e->bytes + next->at, run->size) == 0)
            run->holder = next->holder;
    }
    free(order);
    return true;
}

/* Rows lie in the order in which functions need them: those of neighbours are near each other. */
static bool place_runs(struct synth_encoder *e, uint64_t *size, uint64_t *row_count)
{
    *size = *row_count = 0;
    if (e->share && !find_holders(e))
        return false;
    for (size_t i = 0; i < e->fde_count; i++) {
        struct synth_run *run = &e->runs[e->runs[e->fdes[i].run].holder];

        if (run->placed)
            continue;
        run->placed = true;
        run->position = *size;
        *size += run->size;
        *row_count += run->row_count;
    }
    return true;
}

static uint8_t *put_header(uint8_t *to, const struct synth_encoder *e, uint32_t rows_size,
                           uint32_t row_count)
{
    const bool big = e->abi == SFB_ABI_AARCH64_BE;

    to = put(to, MAGIC, 2, big);
    to = put(to, VERSION, 1, big);
    to = put(to, SFB_SECTION_FDE_SORTED, 1, big);
    to = put(to, e->abi, 1, big);
    to = put(to, 0, 1, big); /* fp is not fixed */
    to = put(to, (uint8_t)sfb_abi_registers(e->abi).fixed_ra, 1, big);
    to = put(to, 0, 1, big); /* no auxiliary header */
    to = put(to, e->fde_count, 4, big);
    to = put(to, row_count, 4, big);
    to = put(to, rows_size, 4, big);
    to = put(to, 0, 4, big); /* entries behind the header, rows behind the entries */
    return put(to, e->fde_count * FDE_SIZE, 4, big);
}

static uint8_t *put_fde(uint8_t *to, const struct synth_encoder *e, const struct synth_fde *fde)
{
    const bool big = e->abi == SFB_ABI_AARCH64_BE;

    to = put(to, (uint32_t)fde->start, 4, big);
    to = put(to, fde->size, 4, big);
    to = put(to, e->runs[e->runs[fde->run].holder].position, 4, big);
    to = put(to, fde->row_count, 4, big);
    return put(to, fde->info, 1, big);
}

bool synth_encoder_finish(struct synth_encoder *e, uint8_t **out, size_t *size, uint32_t *row_count)
{
    uint64_t rows_size, rows, fdes_size = (uint64_t)e->fde_count * FDE_SIZE;
    uint8_t *bytes, *to;

    if (!place_runs(e, &rows_size, &rows) || HEADER_SIZE + fdes_size + rows_size > UINT32_MAX)
        return false;
    bytes = malloc(HEADER_SIZE + fdes_size + rows_size);
    if (!bytes)
        return false;
    to = put_header(bytes, e, (uint32_t)rows_size, (uint32_t)rows);
    for (size_t i = 0; i < e->fde_count; i++)
        to = put_fde(to, e, &e->fdes[i]);
    for (size_t i = 0; i < e->run_count; i++)
        if (e->runs[i].placed)
            memcpy(to + e->runs[i].position, e->bytes + e->runs[i].at, e->runs[i].size);
    *out = bytes;
    *size = HEADER_SIZE + fdes_size + rows_size;
    if (row_count)
        *row_count = (uint32_t)rows;
    return true;
}
