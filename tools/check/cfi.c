#include "cfi.h"

#include <stdlib.h>
#include <string.h>

#include <sfb/abi.h>

#include "bytes.h"
#include "cfi_bounds.h"

/*
 * Bytes of instructions that are followed, for each byte of the section. Each row is followed from
 * the start of its function: compilers' functions take a few hundred; a function of a million rows,
 * or an expression that claims gigabytes of code, is not compared to its end.
 */
enum { COST_PER_BYTE = 1024, COST_LEAST = 1 << 24 };

/* ---- a file for libdw ---- */

/* Names of the three sections: none, .eh_frame, and these names. */
static const char names[] = "\0.eh_frame\0.names";

/* Header, section, names, section headers, each aligned. */
static bool make_image(struct cfi *c, const struct object *o, const uint8_t *bytes)
{
    const uint64_t section_at = sizeof(Elf64_Ehdr), names_at = (section_at + c->size + 7) & ~7ull;
    const uint64_t headers_at = (names_at + sizeof names + 7) & ~7ull;
    const uint64_t size = headers_at + 3 * sizeof(Elf64_Shdr);
    Elf64_Ehdr header = { .e_ident = { 0x7f, 'E', 'L', 'F', ELFCLASS64, ELFDATA2LSB, EV_CURRENT },
                          .e_type = ET_DYN,
                          .e_machine = o->header.e_machine,
                          .e_version = EV_CURRENT,
                          .e_shoff = headers_at,
                          .e_ehsize = sizeof header,
                          .e_shentsize = sizeof(Elf64_Shdr),
                          .e_shnum = 3,
                          .e_shstrndx = 2 };
    Elf64_Shdr sections[3] = { { .sh_name = 0 },
                               { .sh_name = 1,
                                 .sh_type = SHT_PROGBITS,
                                 .sh_flags = SHF_ALLOC,
                                 .sh_addr = c->address,
                                 .sh_offset = section_at,
                                 .sh_size = c->size,
                                 .sh_addralign = 1 },
                               { .sh_name = 11,
                                 .sh_type = SHT_STRTAB,
                                 .sh_offset = names_at,
                                 .sh_size = sizeof names,
                                 .sh_addralign = 1 } };
    const unsigned char data = o->big ? ELFDATA2MSB : ELFDATA2LSB;
    Elf_Data from = { .d_buf = &header, .d_type = ELF_T_EHDR, .d_version = EV_CURRENT }, to = from;

    header.e_ident[EI_DATA] = data;
    c->image = calloc(1, size);
    if (!c->image)
        return false;
    from.d_size = to.d_size = sizeof header;
    to.d_buf = c->image;
    elf64_xlatetof(&to, &from, data);
    from.d_type = to.d_type = ELF_T_SHDR;
    from.d_buf = sections;
    from.d_size = to.d_size = sizeof sections;
    to.d_buf = c->image + headers_at;
    elf64_xlatetof(&to, &from, data);
    memcpy(c->image + section_at, bytes, c->size);
    memcpy(c->image + names_at, names, sizeof names);
    c->elf = elf_memory((char *)c->image, size);
    c->libdw = c->elf ? dwarf_getcfi_elf(c->elf) : NULL;
    return c->libdw != NULL;
}

/* ---- the functions ---- */

/* Bytes of an encoded pointer; 0: a form that no compiler writes here. */
static size_t width_of(uint8_t encoding)
{
    switch (encoding & 7) {
    case 0: /* absptr */
    case 4: return 8;
    case 3: return 4;
    case 2: return 2;
    default: return 0;
    }
}

/* How the addresses of the entries of a CIE are encoded: what stands for the letter R. */
static bool encoding_of(uint8_t *out, const Dwarf_CIE *cie)
{
    const uint8_t *data = cie->augmentation_data;
    const uint8_t *end = data ? data + cie->augmentation_data_size : NULL;

    *out = 0;
    for (const char *letter = cie->augmentation; data && *letter; letter++) {
        if ((*letter == 'R' || *letter == 'L' || *letter == 'P') && data >= end)
            return false;
        if (*letter == 'R')
            *out = *data;
        if (*letter == 'R' || *letter == 'L')
            data++;
        if (*letter == 'P') {
            const size_t width = (*data & 0x70) == 0x50 ? 0 : width_of(*data);

            if (width == 0 || (size_t)(end - data) < 1 + width)
                return false;
            data += 1 + width;
        }
    }
    return true;
}

struct reading {
    struct cfi *cfi;
    Elf_Data *data;
    const unsigned char *ident;
    bool big;
    uint64_t cie_at;     /* the CIE that was read last ... */
    uint8_t encoding;    /* ... and what it said */
    const char *refused; /* why its instructions are not for libdw */
    bool good, known, sized;
    size_t capacity;
    uint64_t budget; /* bytes of instructions that may still be looked at */
};

/* The instructions of an entry are looked at once; a CIE again when entries of others are between. */
enum { LOOKS_PER_BYTE = 64, LOOKS_LEAST = 1 << 20 };

static const char *judge_program(struct reading *r, const uint8_t *at, const uint8_t *end)
{
    const uint64_t size = (uint64_t)(end - at);

    if (r->budget < size)
        return "so many instructions that they are not looked at any further";
    r->budget -= size;
    return cfi_program_refused(at, end, width_of(r->encoding));
}

static bool read_encoding(struct reading *r, uint64_t cie_at)
{
    Dwarf_CFI_Entry entry;
    Dwarf_Off next;

    if (r->known && r->cie_at == cie_at)
        return r->good;
    r->known = true;
    r->cie_at = cie_at;
    r->good = dwarf_next_cfi(r->ident, r->data, true, cie_at, &next, &entry) == 0 &&
              dwarf_cfi_cie_p(&entry) && encoding_of(&r->encoding, &entry.cie);
    r->sized = r->good && entry.cie.augmentation[0] == 'z';
    r->refused = r->good ? judge_program(r, entry.cie.initial_instructions,
                                         entry.cie.initial_instructions_end)
                         : NULL;
    return r->good;
}

/* @param at  behind the addresses of an FDE. @return why its instructions are not for libdw */
static const char *judge_entry(struct reading *r, const uint8_t *at, const uint8_t *end)
{
    uint64_t size = 0;

    if (r->refused)
        return r->refused;
    if (r->sized) {
        for (unsigned i = 0;; i++) {
            if (at == end || i == 10)
                return "augmentation data that ends past the entry";
            size |= (uint64_t)(*at & 0x7f) << 7 * i;
            if ((*at++ & 0x80) == 0)
                break;
        }
        if (size > (uint64_t)(end - at))
            return "augmentation data that ends past the entry";
    }
    return judge_program(r, at + size, end);
}

/*
 * Takes an entry from libdw, which would find it at its addresses, by a CIE that is not there: libdw
 * passes over such entries.
 */
static void hide(struct reading *r, uint64_t at)
{
    uint8_t *entry = r->cfi->image + sizeof(Elf64_Ehdr) + at;
    const bool wide = bytes_load(entry, 4, r->big) == UINT32_MAX;

    memset(entry + (wide ? 12 : 4), 0xff, wide ? 8 : 4);
}

/* @return false: no memory */
static bool add_function(struct reading *r, uint64_t at, const Dwarf_FDE *fde)
{
    struct cfi *c = r->cfi;
    const uint8_t *bytes = fde->start;
    struct cfi_function f = { .at = at, .cost = (uint64_t)(fde->end - bytes) };
    size_t width;

    if (!read_encoding(r, fde->CIE_pointer) || (width = width_of(r->encoding)) == 0 ||
        (size_t)(fde->end - bytes) < 2 * width) {
        hide(r, at);
        return true;
    }
    f.start = (r->encoding & 8) ? (uint64_t)bytes_load_signed(bytes, width, r->big)
                                : bytes_load(bytes, width, r->big);
    if ((r->encoding & 0x70) == 0x10) /* pcrel */
        f.start += c->address + (uint64_t)(bytes - (const uint8_t *)r->data->d_buf);
    f.end = f.start + bytes_load(bytes + width, width, r->big);
    f.refused = judge_entry(r, bytes + 2 * width, fde->end);
    if (f.refused)
        hide(r, at);
    if (f.end <= f.start)
        return true;
    if (c->count == r->capacity) {
        const size_t capacity = r->capacity ? r->capacity * 2 : 64;
        struct cfi_function *all = reallocarray(c->functions, capacity, sizeof *all);

        if (!all)
            return false;
        c->functions = all;
        r->capacity = capacity;
    }
    c->functions[c->count++] = f;
    return true;
}

static int by_start(const void *a, const void *b)
{
    const struct cfi_function *x = a, *y = b;

    if (x->start != y->start)
        return x->start < y->start ? -1 : 1;
    return x->at < y->at ? -1 : x->at > y->at;
}

static bool read_functions(struct cfi *c, bool big)
{
    Elf_Scn *section = elf_getscn(c->elf, 1);
    struct reading r = { .cfi = c,
                         .data = section ? elf_rawdata(section, NULL) : NULL,
                         .big = big,
                         .budget = c->size * LOOKS_PER_BYTE + LOOKS_LEAST };
    Dwarf_CFI_Entry entry;
    Dwarf_Off at = 0, next = 0;
    int result;

    r.ident = c->image;
    while (r.data && (result = dwarf_next_cfi(r.ident, r.data, true, at, &next, &entry)) != 1) {
        if (result == 0 && !dwarf_cfi_cie_p(&entry) && !add_function(&r, at, &entry.fde))
            return false;
        if (next <= at || next == (Dwarf_Off)-1)
            break;
        at = next;
    }
    if (c->count > 0)
        qsort(c->functions, c->count, sizeof *c->functions, by_start);
    return true;
}

/* ---- signed return addresses ---- */

/* The section for the library's reader, with room for a table of one entry behind it. */
static bool make_view(struct cfi *c, bool big, const uint8_t *bytes)
{
    const bool host_is_big = __BYTE_ORDER__ == __ORDER_BIG_ENDIAN__;

    if (c->abi == SFB_ABI_AMD64_LE || c->size > UINT32_MAX - 16)
        return true;
    c->view = calloc(1, c->size + 16);
    if (!c->view)
        return false;
    memcpy(c->view, bytes, c->size);
    c->own = (struct sfb_eh_frame){ .data = c->view,
                                    .address = c->address,
                                    .frames = c->address,
                                    .size = (uint32_t)c->size + 16,
                                    .hdr = (uint32_t)c->size,
                                    .table = (uint32_t)c->size,
                                    .count = 1,
                                    .abi = c->abi,
                                    .swap = big != host_is_big };
    return true;
}

static void open_signs(struct cfi_rows *rows)
{
    struct cfi *c = rows->cfi;
    const uint64_t hdr = c->address + c->own.hdr;
    const bool big = c->abi == SFB_ABI_AARCH64_BE;

    rows->has_signs = false;
    if (!c->view)
        return;
    bytes_store(c->view + c->own.table, 4, rows->function->start - hdr, big);
    bytes_store(c->view + c->own.table + 4, 4, c->address + rows->function->at - hdr, big);
    rows->has_signs = sfb_eh_frame_fde(&c->own, 0, &rows->fde, NULL) == SFB_OK &&
                      sfb_cfi_rows_init(&rows->signs, &c->own, &rows->fde, NULL) == SFB_OK &&
                      sfb_cfi_rows_next(&rows->signs, NULL) == SFB_OK;
}

/* Adds what libdw does not say, and ends the row where that changes. */
static void add_signs(struct cfi_rows *rows, struct cfi_row *row)
{
    const unsigned signs = SFB_RULE_RA_SIGNED | SFB_RULE_RA_KEY_B;
    struct sfb_rule rule;

    while (rows->has_signs && rows->signs.end <= row->start)
        rows->has_signs = sfb_cfi_rows_next(&rows->signs, NULL) == SFB_OK;
    if (!rows->has_signs)
        return;
    if (rows->signs.end < row->end)
        row->end = rows->signs.end;
    row->signs_known = sfb_cfi_rows_rule(&rows->signs, row->start, &rule, NULL) == SFB_OK &&
                       (rule.flags & SFB_RULE_OUTERMOST) == 0;
    if (row->signs_known)
        row->rule.flags |= (uint8_t)(rule.flags & signs);
}

/* ---- the rest ---- */

/* @return the bytes of the section, to be freed; NULL: no memory */
static uint8_t *copy_section(const struct object *o, const struct object_cfi_place *place)
{
    struct object_copy copy = { .bytes = NULL };

    if (place->section == 0) {
        copy.bytes = malloc(place->size);
        if (copy.bytes)
            memcpy(copy.bytes, o->image + place->offset, place->size);
    } else if (object_relocate(&copy, o, place->section)) {
        free(copy.relocations);
    }
    return copy.bytes;
}

bool cfi_open(struct cfi *out, struct object *object, const struct object_cfi_place *place)
{
    struct cfi c = { .abi = object->abi,
                     .address = place->address,
                     .size = place->size,
                     .budget = COST_LEAST + place->size * COST_PER_BYTE };
    uint8_t *bytes = copy_section(object, place);

    *out = c;
    if (!bytes)
        return false;
    if (!make_image(&c, object, bytes) || !read_functions(&c, object->big) ||
        !make_view(&c, object->big, bytes)) {
        free(bytes);
        cfi_close(&c);
        return false;
    }
    free(bytes);
    *out = c;
    return true;
}

void cfi_close(struct cfi *cfi)
{
    if (cfi->libdw)
        dwarf_cfi_end(cfi->libdw);
    elf_end(cfi->elf);
    free(cfi->image);
    free(cfi->functions);
    free(cfi->view);
    *cfi = (struct cfi){ .abi = 0 };
}

void cfi_rows_open(struct cfi_rows *out, struct cfi *cfi, const struct cfi_function *function,
                   uint64_t start, uint64_t end)
{
    out->cfi = cfi;
    out->function = function;
    out->next = start;
    out->end = end;
    out->frame = NULL;
    out->frame_end = start;
    open_signs(out);
}

static bool pay(struct cfi_rows *rows)
{
    struct cfi *c = rows->cfi;
    const uint64_t cost = rows->function->cost;

    if (c->budget < cost)
        return false;
    c->budget -= cost;
    return true;
}

/* The frame that holds at rows->next. */
static bool find_frame(struct cfi_rows *rows, struct cfi_row *out)
{
    Dwarf_Addr start, end;
    bool signal;

    if (rows->frame && rows->next < rows->frame_end)
        return true;
    free(rows->frame);
    rows->frame = NULL;
    if (rows->function->refused) {
        out->reason = rows->function->refused;
        return false;
    }
    if (!pay(rows)) {
        out->reason = "so many rows that they are not followed any further";
        return false;
    }
    if (dwarf_cfi_addrframe(rows->cfi->libdw, rows->next, &rows->frame) != 0) {
        rows->frame = NULL;
        out->reason = dwarf_errmsg(-1);
        return false;
    }
    dwarf_frame_info(rows->frame, &start, &end, &signal);
    rows->frame_end = end > rows->next ? end : rows->next + 1;
    return true;
}

bool cfi_rows_next(struct cfi_rows *rows, struct cfi_row *out)
{
    bool varies = false;

    if (rows->next >= rows->end)
        return false;
    *out = (struct cfi_row){ .start = rows->next, .end = rows->end, .answer = CFI_UNREADABLE };
    if (find_frame(rows, out)) {
        out->answer = cfi_frame_rule(out, rows->frame, rows->next, rows->cfi->abi, &varies);
        if (rows->frame_end < out->end)
            out->end = rows->frame_end;
        if (varies && pay(rows))
            out->end = out->start + 1;
        add_signs(rows, out);
    }
    rows->next = out->end;
    return true;
}

void cfi_rows_close(struct cfi_rows *rows)
{
    free(rows->frame);
    rows->frame = NULL;
}
