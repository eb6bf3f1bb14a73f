#include "symbols/entries.h"

#include <dwarf.h>
#include <endian.h>
#include <gelf.h>
#include <stdlib.h>
#include <string.h>

#include "base/leb128.h"
#include "util/grow.h"

enum { VARYING = UINT16_MAX, FORMS_MAX = 1 << 20 };

struct object_abbreviation {
    uint64_t code;
    size_t first_form;
    uint16_t form_count, tag;
    uint16_t size; /* bytes of an entry behind its code, or VARYING */
    bool has_children, is_function;
};

/* --- sections ---------------------------------------------------------------------------------- */

struct bytes {
    const uint8_t *at;
    size_t size;
    bool split; /* the section's name ends in .dwo */
};

static bool is_split(const char *name)
{
    const size_t length = strlen(name);

    return length > 4 && strcmp(name + length - 4, ".dwo") == 0;
}

/* Whether it is .debug_abbrev, .zdebug_abbrev or .debug_abbrev.dwo. */
static bool is_abbreviations(const char *name)
{
    name += strncmp(name, ".z", 2) == 0 ? 2 : 1;
    return strcmp(name, "debug_abbrev") == 0 || strcmp(name, "debug_abbrev.dwo") == 0;
}

/* Finds the section with a byte, and its abbreviations. */
static bool find_sections(Elf *elf, const uint8_t *byte, struct bytes *around,
                          struct bytes *abbreviations)
{
    struct bytes of_plain = { NULL, 0, false }, of_split = { NULL, 0, true };
    Elf_Scn *section = NULL;
    GElf_Shdr header;
    size_t names;

    *around = of_plain;
    if (elf_getshdrstrndx(elf, &names) != 0)
        return false;
    while ((section = elf_nextscn(elf, section)) != NULL) {
        const char *name = gelf_getshdr(section, &header) && header.sh_type != SHT_NOBITS
                               ? elf_strptr(elf, names, header.sh_name)
                               : NULL;
        Elf_Data *data;

        if (!name || (strncmp(name, ".debug_", 7) != 0 && strncmp(name, ".zdebug_", 8) != 0) ||
            !(data = elf_getdata(section, NULL)) || !data->d_buf)
            continue;
        if (is_abbreviations(name))
            *(is_split(name) ? &of_split : &of_plain) =
                (struct bytes){ data->d_buf, data->d_size, is_split(name) };
        if ((uintptr_t)byte - (uintptr_t)data->d_buf < data->d_size)
            *around = (struct bytes){ data->d_buf, data->d_size, is_split(name) };
    }
    *abbreviations = around->split ? of_split : of_plain;
    return around->at && abbreviations->at;
}

/* --- forms: DWARF 5, section 7.5.6 -------------------------------------------------------------- */

/* Bytes of a value; VARYING if the form does not say; 0 also for unknown forms. */
static uint16_t form_size(const struct object_entries *e, unsigned form)
{
    switch (form) {
    case DW_FORM_flag_present:
    case DW_FORM_implicit_const: return 0;
    case DW_FORM_data1:
    case DW_FORM_ref1:
    case DW_FORM_flag:
    case DW_FORM_strx1:
    case DW_FORM_addrx1: return 1;
    case DW_FORM_data2:
    case DW_FORM_ref2:
    case DW_FORM_strx2:
    case DW_FORM_addrx2: return 2;
    case DW_FORM_strx3:
    case DW_FORM_addrx3: return 3;
    case DW_FORM_data4:
    case DW_FORM_ref4:
    case DW_FORM_ref_sup4:
    case DW_FORM_strx4:
    case DW_FORM_addrx4: return 4;
    case DW_FORM_data8:
    case DW_FORM_ref8:
    case DW_FORM_ref_sup8:
    case DW_FORM_ref_sig8: return 8;
    case DW_FORM_data16: return 16;
    case DW_FORM_addr: return e->address_size;
    case DW_FORM_ref_addr: return e->version < 3 ? e->address_size : e->offset_size;
    case DW_FORM_strp:
    case DW_FORM_line_strp:
    case DW_FORM_sec_offset:
    case DW_FORM_strp_sup:
    case DW_FORM_GNU_ref_alt:
    case DW_FORM_GNU_strp_alt: return e->offset_size;
    default: return VARYING;
    }
}

static uint64_t read_number(struct sfb_reader *r, size_t size)
{
    switch (size) {
    case 1: return sfb_reader_u8(r);
    case 2: return sfb_reader_u16(r);
    case 4: return sfb_reader_u32(r);
    case 8: return sfb_reader_u64(r);
    default: sfb_reader_skip(r, size); return 0;
    }
}

static void skip_string(struct sfb_reader *r)
{
    const uint8_t *end = r->failed ? NULL : memchr(r->pos, 0, r->left);

    if (end)
        sfb_reader_skip(r, (uint64_t)(end - r->pos) + 1);
    else
        r->failed = true;
}

/* Reads a value; 0 if it is no number. */
static uint64_t read_form(const struct object_entries *e, struct sfb_reader *r, unsigned form,
                          uint32_t constant)
{
    uint16_t size;

    if (form == DW_FORM_indirect) {
        const uint64_t real = sfb_reader_uleb(r);

        if (real >= UINT16_MAX || real == DW_FORM_indirect || real == DW_FORM_implicit_const)
            r->failed = true;
        form = (unsigned)real;
    }
    if (r->failed)
        return 0;
    size = form_size(e, form);
    if (form == DW_FORM_implicit_const)
        return constant;
    if (size != VARYING)
        return read_number(r, size);
    switch (form) {
    case DW_FORM_sdata: return (uint64_t)sfb_reader_sleb(r);
    case DW_FORM_udata:
    case DW_FORM_ref_udata:
    case DW_FORM_strx:
    case DW_FORM_addrx:
    case DW_FORM_loclistx:
    case DW_FORM_rnglistx:
    case DW_FORM_GNU_addr_index:
    case DW_FORM_GNU_str_index: return sfb_reader_uleb(r);
    case DW_FORM_string: skip_string(r); return 0;
    case DW_FORM_block1: sfb_reader_skip(r, sfb_reader_u8(r)); return 0;
    case DW_FORM_block2: sfb_reader_skip(r, sfb_reader_u16(r)); return 0;
    case DW_FORM_block4: sfb_reader_skip(r, sfb_reader_u32(r)); return 0;
    case DW_FORM_block:
    case DW_FORM_exprloc: sfb_reader_skip(r, sfb_reader_uleb(r)); return 0;
    default: r->failed = true; return 0;
    }
}

/* --- abbreviations: DWARF 5, section 7.5.3 ------------------------------------------------------ */

static bool add_form(struct object_abbreviations *a, const struct object_form *form)
{
    struct object_form *forms =
        array_grow(a->forms, a->form_count, &a->form_room, sizeof *forms, FORMS_MAX);

    if (!forms)
        return false;
    a->forms = forms;
    a->forms[a->form_count++] = *form;
    return true;
}

static bool add_abbreviation(struct object_abbreviations *a,
                             const struct object_abbreviation *abbreviation)
{
    struct object_abbreviation *at = array_grow(a->at, a->count, &a->room, sizeof *at, FORMS_MAX);

    if (!at)
        return false;
    a->at = at;
    a->at[a->count++] = *abbreviation;
    return true;
}

/* @return false: no memory, or malformed bytes: r->failed */
static bool read_forms(struct object_entries *e, struct sfb_reader *r,
                       struct object_abbreviation *abbreviation)
{
    struct object_abbreviations *a = &e->abbreviations;

    for (;;) {
        const uint64_t name = sfb_reader_uleb(r), form = sfb_reader_uleb(r);
        struct object_form added = { (uint16_t)name, (uint16_t)form, 0 };
        uint16_t size;

        if (form == DW_FORM_implicit_const)
            added.constant = (uint32_t)sfb_reader_sleb(r);
        if (r->failed || (name == 0 && form == 0))
            return !r->failed;
        if (name > UINT16_MAX || form > UINT16_MAX ||
            a->form_count - abbreviation->first_form == UINT16_MAX) {
            r->failed = true;
            return false;
        }
        size = form_size(e, added.form);
        if (size == VARYING || abbreviation->size == VARYING ||
            abbreviation->size + size >= VARYING)
            abbreviation->size = VARYING;
        else
            abbreviation->size = (uint16_t)(abbreviation->size + size);
        if (!add_form(a, &added))
            return false;
        abbreviation->form_count++;
    }
}

static int by_code(const void *a, const void *b)
{
    const struct object_abbreviation *x = a, *y = b;

    return x->code < y->code ? -1 : x->code > y->code;
}

/* Abbreviations before a malformed one stay: the entries may need no others. */
static bool read_abbreviations(struct object_entries *e, struct sfb_reader r)
{
    struct object_abbreviations *a = &e->abbreviations;
    uint64_t code;
    bool sorted = true;

    while ((code = sfb_reader_uleb(&r)) != 0) {
        const uint64_t tag = sfb_reader_uleb(&r);
        struct object_abbreviation added = { .code = code,
                                             .first_form = a->form_count,
                                             .tag = (uint16_t)(tag <= UINT16_MAX ? tag : 0) };

        added.has_children = sfb_reader_u8(&r) == DW_CHILDREN_yes;
        added.is_function = tag == DW_TAG_subprogram || tag == DW_TAG_inlined_subroutine;
        sorted = sorted && (a->count == 0 || a->at[a->count - 1].code < code);
        if (!read_forms(e, &r, &added)) {
            if (r.failed)
                break;
            return false;
        }
        if (!add_abbreviation(a, &added))
            return false;
    }
    if (!sorted)
        qsort(a->at, a->count, sizeof *a->at, by_code);
    return true;
}

static const struct object_abbreviation *find_abbreviation(const struct object_abbreviations *a,
                                                           uint64_t code)
{
    const struct object_abbreviation wanted = { .code = code };

    if (code - 1 < a->count && a->at[code - 1].code == code)
        return &a->at[code - 1]; /* compilers count from 1 on */
    return a->count == 0 ? NULL : bsearch(&wanted, a->at, a->count, sizeof *a->at, by_code);
}

/* --- the walk ---------------------------------------------------------------------------------- */

static bool of_other_order(Elf *elf)
{
    const char *ident = elf_getident(elf, NULL);

    return ident && (ident[EI_DATA] == ELFDATA2MSB) != (__BYTE_ORDER == __BIG_ENDIAN);
}

/* The bytes from a unit's first entry to its end, by its header. */
static bool find_entries(struct object_entries *e, Dwarf_Die *unit, const struct bytes *section)
{
    const uint64_t header = dwarf_cuoffset(unit); /* the entry's offset from the unit's header */
    const uint64_t in_section = (uint64_t)((const uint8_t *)unit->addr - section->at);
    struct sfb_reader *r = &e->reader;
    uint64_t size;

    if (header > in_section)
        return false;
    r->pos = (const uint8_t *)unit->addr - header;
    r->left = section->size - (size_t)(in_section - header);
    size = sfb_reader_u32(r);
    if (size == UINT32_MAX)
        size = sfb_reader_u64(r);
    if (!r->failed && size < r->left)
        r->left = (size_t)size;
    sfb_reader_skip(r, (uint64_t)((const uint8_t *)unit->addr - r->pos));
    return !r->failed;
}

void object_entries_open(struct object_entries *out, Dwarf_Die *unit)
{
    struct object_entries *e = out;
    Elf *elf = dwarf_getelf(dwarf_cu_getdwarf(unit->cu));
    struct bytes section, abbreviations;
    struct sfb_reader r;
    Dwarf_Off offset = 0;
    Dwarf_Half version = 0;
    Dwarf_Die die;

    *e = (struct object_entries){ .reader = { .failed = true } };
    if (!elf || !find_sections(elf, unit->addr, &section, &abbreviations) ||
        !dwarf_cu_die(unit->cu, &die, &version, &offset, &e->address_size, &e->offset_size, NULL,
                      NULL) ||
        offset > abbreviations.size)
        return;
    e->version = (uint8_t)version;
    e->reader = (struct sfb_reader){ .swap = of_other_order(elf) };
    r = (struct sfb_reader){ abbreviations.at + offset, abbreviations.size - offset, e->reader.swap,
                             false };
    e->no_memory = !read_abbreviations(e, r);
    if (e->no_memory || !find_entries(e, unit, &section))
        e->reader.failed = true;
}

/* @return NULL: no forms for any abbreviation, and so for this one */
static const struct object_form *forms_of(const struct object_entries *e,
                                          const struct object_abbreviation *a)
{
    return a->form_count > 0 ? e->abbreviations.forms + a->first_form : NULL;
}

static void read_attributes(struct object_entries *e, const struct object_abbreviation *a,
                            struct object_entry *out)
{
    const struct object_form *forms = forms_of(e, a);
    bool has_start = false, has_end = false, is_size = false;

    for (size_t i = 0; i < a->form_count; i++) {
        const struct object_form *f = &forms[i];
        const uint64_t value = read_form(e, &e->reader, f->form, f->constant);

        switch (f->name) {
        case DW_AT_low_pc:
            out->start = value;
            has_start = true;
            out->has_ranges |= f->form != DW_FORM_addr;
            break;
        case DW_AT_high_pc:
            out->end = value;
            has_end = true;
            is_size = f->form != DW_FORM_addr;
            break;
        case DW_AT_ranges: out->has_code = out->has_ranges = true; break;
        case DW_AT_call_file: out->call_file = (uint32_t)value; break;
        case DW_AT_call_line: out->call_line = (uint32_t)value; break;
        case DW_AT_call_column: out->call_column = (uint32_t)value; break;
        default: break;
        }
    }
    out->has_code |= has_start && has_end;
    if (is_size)
        out->end += out->start;
}

static void skip_attributes(struct object_entries *e, const struct object_abbreviation *a)
{
    const struct object_form *forms = forms_of(e, a);

    if (a->size != VARYING) {
        sfb_reader_skip(&e->reader, a->size);
        return;
    }
    for (size_t i = 0; i < a->form_count && !e->reader.failed; i++)
        read_form(e, &e->reader, forms[i].form, 0);
}

bool object_entries_next(struct object_entries *entries, struct object_entry *out)
{
    struct sfb_reader *r = &entries->reader;
    const struct object_abbreviation *a;
    const uint8_t *at;
    uint64_t code;

    do {
        at = r->pos;
        code = r->failed || r->left == 0 ? 0 : sfb_reader_uleb(r);
        if (code == 0 && (r->failed || r->left == 0 || entries->depth <= 1))
            return false;
        entries->depth -= code == 0;
    } while (code == 0);
    a = find_abbreviation(&entries->abbreviations, code);
    if (!a)
        return false;
    *out = (struct object_entry){ .at = at, .tag = a->tag, .depth = entries->depth };
    if (a->is_function)
        read_attributes(entries, a, out);
    else
        skip_attributes(entries, a);
    if (a->has_children)
        entries->depth++;
    else if (entries->depth == 0)
        r->left = 0; /* the unit's own entry is its only one */
    return !r->failed;
}

void object_entries_close(struct object_entries *entries)
{
    free(entries->abbreviations.at);
    free(entries->abbreviations.forms);
    *entries = (struct object_entries){ .reader = { .failed = true } };
}
