/*
 * Any bytes as a file for symbols: an ELF file, an archive, or neither. Nothing may be read outside of
 * it, work has to end, and what is found must lie where it is said to be.
 */
#include <string.h>

#include "fuzz/fuzz.h"
#include "symbols/archive.h"
#include "symbols/code_ranges.h"
#include "symbols/labels.h"
#include "symbols/relocate.h"
#include "symbols/sframe.h"
#include "symbols/tables.h"

enum { SECTIONS = 64, ENTRIES = 64, BIAS = 0x7000000 };

static void check_fault(const struct object_fault *fault)
{
    FUZZ_CHECK(fault->cause != NULL);
}

/* Addresses lead to offsets, and back to the address of a segment that has the same byte. */
static void check_places(const struct object *o)
{
    for (size_t i = 0; i < o->phdr_count && i < SECTIONS; i++) {
        const GElf_Phdr *p = &o->phdrs[i];
        uint64_t offset, address, again;

        if (p->p_type != PT_LOAD || !object_offset_of(o, p->p_vaddr, &offset))
            continue;
        FUZZ_CHECK(offset < o->size);
        FUZZ_CHECK(object_address_of(o, offset, &address));
        FUZZ_CHECK(!object_offset_of(o, address, &again) || again < o->size);
    }
}

static void check_code(struct object *o)
{
    FUZZ_CHECK(object_find_code(o) && object_read_labels(o));
    for (size_t i = 0; i < o->code_count; i++) {
        const struct object_range r = o->code[i];

        FUZZ_CHECK(r.start <= r.end && (i == 0 || o->code[i - 1].end <= r.start));
        if (r.start < r.end && i < SECTIONS) {
            const uint8_t *at = object_code_at(o, r.start, 1);

            FUZZ_CHECK(object_is_code(o, r.start, r.end));
            FUZZ_CHECK(!at || (at >= o->image && at < o->image + o->size));
        }
    }
    for (size_t i = 0; i < o->label_count; i++)
        FUZZ_CHECK(o->labels[i].start <= o->labels[i].end && o->labels[i].name[0] != '\0' &&
                   (i == 0 || o->labels[i - 1].start <= o->labels[i].start));
}

static void check_copies(const struct object *o)
{
    for (size_t i = 1; i < o->section_count && i < SECTIONS; i++) {
        struct object_copy copy;

        FUZZ_CHECK(object_relocate(&copy, o, i));
        FUZZ_CHECK(copy.size ==
                   (object_bytes(o, &o->sections[i]) ? o->sections[i].header.sh_size : 0));
        for (size_t k = 0; k < copy.relocation_count; k++)
            FUZZ_CHECK(copy.relocations[k].symbol != NULL &&
                       (copy.relocations[k].cause == NULL) == (copy.relocations[k].field == NULL));
        object_copy_free(&copy);
    }
}

static void check_tables(const struct object *o)
{
    const struct object_cfi_place cfi = object_find_cfi(o);
    struct object_sframe sframe;
    struct object_fault fault;
    struct object_tables t;

    if (cfi.result == OBJECT_CFI_FOUND)
        FUZZ_CHECK(object_has(o, cfi.offset, cfi.size) && cfi.size > 0);
    else
        FUZZ_CHECK(cfi.reason != NULL);
    switch (object_find_sframe(&sframe, &fault, o)) {
    case OBJECT_FOUND:
        FUZZ_CHECK(object_has(o, (uint64_t)(sframe.data - o->image), sframe.size));
        break;
    case OBJECT_ABSENT: break;
    case OBJECT_FAULTY: check_fault(&fault); break;
    }
    if (!object_tables_open(&t, o, BIAS))
        return;
    for (uint32_t i = 0; t.module.eh_frame_status == SFB_OK && i < t.module.eh_frame.count; i++) {
        struct sfb_cfi_fde fde;
        struct sfb_rule rule;

        if (i == ENTRIES)
            break;
        if (sfb_eh_frame_fde(&t.module.eh_frame, i, &fde, NULL) == SFB_OK)
            sfb_eh_frame_find(&t.module.eh_frame, fde.start, &rule, NULL);
    }
    if (t.module.section_status == SFB_OK && t.module.section.fde_count > 0) {
        struct sfb_fde fde;
        struct sfb_rule rule;

        if (sfb_fde_read(&t.module.section, 0, &fde, NULL) == SFB_OK)
            sfb_section_find(&t.module.section, fde.start, &rule, NULL);
    }
    object_tables_close(&t);
}

static void check_file(uint8_t *image, size_t size)
{
    struct object_fault fault = { .cause = NULL };
    struct object o;

    if (!object_open(&o, &fault, image, size)) {
        check_fault(&fault);
        return;
    }
    object_lay_out(&o);
    check_places(&o);
    check_code(&o);
    check_copies(&o);
    check_tables(&o);
    object_close(&o);
}

struct archive {
    uint8_t *image;
    size_t size;
};

static void check_member(void *data, const struct object_member *member)
{
    const struct archive *a = data;

    FUZZ_CHECK(member->at <= a->size && member->size <= a->size - member->at);
    check_file(a->image + member->at, member->size);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    /* libelf wants it writable; and a sanitizer sees what is read behind it. */
    struct archive a = { calloc(1, size ? size : 1), size };
    bool any;

    FUZZ_CHECK(a.image != NULL);
    if (size > 0)
        memcpy(a.image, data, size);
    if (object_archive_kind(a.image, size) == OBJECT_ARCHIVE)
        object_archive_members(a.image, size, check_member, &a, &any);
    check_file(a.image, size);
    FUZZ_CHECK(size == 0 || memcmp(a.image, data, size) == 0);
    free(a.image);
    return 0;
}
