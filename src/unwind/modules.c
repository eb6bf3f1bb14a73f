/*
 * The module cache.
 *
 * Invariants:
 * - An entry is written by one thread, published by a release store of its address, and never
 *   written again: readers need no lock and no sequence number.
 * - Entries are never freed. Each load that differs from the one before at its address takes one,
 * and after ENTRIES of them new modules are read anew at each use: two probes, about 300 ns more.
 * - A slot is empty at first, and is overwritten only by an entry for the same start address, which
 *   replaces a stale one. Whoever loses a race for a slot merely has an entry that nobody finds.
 * - A module's id is given once. It stands for the very bytes of the file, as far as the linker's
 *   build-id does (not one that was made up by hand), which is part of what is compared: what a
 * cache remembers under an id can never be true of another file. A module without a build-id, or
 * whose ELF header does not say where the program headers are, has no id, and nothing of its tables
 * is remembered.
 *
 * Tried and dropped: a sorted table swapped by pointer. It has to be freed some day, so its
 * readers, who are in signal handlers, have to be counted; and it has to hear of every dlclose().
 */
#include "unwind/modules.h"

#include <stdatomic.h>
#include <string.h>

#include "unwind/rule_cache.h"

enum { ENTRIES = 512, SLOTS = 1024, PROBES = 8, SECTION_HEADER_SIZE = 28 };

_Static_assert(ENTRIES <= SFB_RULE_CACHE_ID_MAX, "every entry can have an id");

struct entry {
    struct sfb_image image;
    ElfW(Phdr) sframe; /* as it was; p_type 0: the module had none */
    uint8_t header[SECTION_HEADER_SIZE];
    ElfW(Phdr) eh_frame; /* the same */
    struct sfb_build_id build_id;
    struct sfb_module module;
};

static struct entry pool[ENTRIES];
static atomic_uint used;
static _Atomic(struct entry *) slots[SLOTS];

static unsigned slot_of(uint64_t start)
{
    return (unsigned)(((start >> 12) * 0x9e3779b97f4a7c15u) >> 32) % SLOTS;
}

/* Whether the ELF header, where the module starts, leads to these program headers. */
static bool header_leads_to(const struct sfb_image *image)
{
    const ElfW(Ehdr) *ehdr =
        (const void *)(uintptr_t)image->identity.start; /* NOLINT(performance-no-int-to-ptr) */
    uint64_t offset = (uintptr_t)image->phdrs - image->identity.start;

    /* Both on the first page: it is there, whatever else of the module is. */
    return offset >= sizeof *ehdr && offset <= 4096 &&
           image->phdr_count * sizeof *image->phdrs <= 4096 - offset &&
           memcmp(ehdr->e_ident, ELFMAG, SELFMAG) == 0 && ehdr->e_phoff == offset &&
           ehdr->e_phnum == image->phdr_count;
}

static bool same_build_id(const struct entry *e)
{
    struct sfb_build_id now;

    if (!header_leads_to(&e->image))
        return false;
    sfb_image_build_id(&now, &e->image);
    return now.size == e->build_id.size && memcmp(now.bytes, e->build_id.bytes, now.size) == 0;
}

static bool same_section(const struct entry *e)
{
    const ElfW(Phdr) *p = sfb_image_phdr(&e->image, PT_GNU_SFRAME);

    if (!p)
        return e->sframe.p_type == PT_NULL;
    return memcmp(p, &e->sframe, sizeof *p) == 0 &&
           (e->module.section_status != SFB_OK ||
            memcmp(e->module.section.data, e->header, sizeof e->header) == 0);
}

/* The same bytes, as far as they are described. */
static bool same_tables(const struct sfb_eh_frame *a, const struct sfb_eh_frame *b)
{
    return a->data == b->data && a->size == b->size && a->frames == b->frames && a->hdr == b->hdr &&
           a->table == b->table && a->count == b->count && a->gap == b->gap &&
           a->gap_end == b->gap_end;
}

static bool same_eh_frame(const struct entry *e)
{
    const ElfW(Phdr) *p = sfb_image_phdr(&e->image, PT_GNU_EH_FRAME);
    struct sfb_eh_frame now;
    enum sfb_status status;

    if (!p)
        return e->eh_frame.p_type == PT_NULL;
    if (memcmp(p, &e->eh_frame, sizeof *p) != 0)
        return false;
    status = sfb_image_eh_frame(&now, &e->image);
    return status == e->module.eh_frame_status &&
           (status != SFB_OK || same_tables(&now, &e->module.eh_frame));
}

static bool still_true(const struct entry *e, const struct sfb_module_identity *identity)
{
    if (e->image.identity.end != identity->end ||
        e->image.identity.link_map != identity->link_map ||
        e->image.identity.eh_frame != identity->eh_frame)
        return false;
    /*
     * objcopy takes .sframe out of a file or puts one in and leaves the build-id as it is; nobody
     * does that to .eh_frame, whose place is part of the identity.
     */
    return (e->build_id.size > 0 ? same_build_id(e) : same_eh_frame(e)) && same_section(e);
}

const struct sfb_module *sfb_module_cache_find(const struct sfb_module_identity *identity)
{
    unsigned slot = slot_of(identity->start);

    for (unsigned i = 0; i < PROBES; i++) {
        const struct entry *e =
            atomic_load_explicit(&slots[(slot + i) % SLOTS], memory_order_acquire);

        if (!e)
            return NULL;
        if (e->image.identity.start == identity->start)
            return still_true(e, identity) ? &e->module : NULL;
    }
    return NULL;
}

static bool phdrs_inside(const struct sfb_image *image)
{
    uint64_t first = (uintptr_t)image->phdrs;

    return first >= image->identity.start && first < image->identity.end &&
           image->phdr_count * sizeof *image->phdrs <= image->identity.end - first;
}

static struct entry *take_entry(void)
{
    unsigned n = atomic_load_explicit(&used, memory_order_relaxed);

    do {
        if (n >= ENTRIES)
            return NULL;
    } while (!atomic_compare_exchange_weak_explicit(&used, &n, n + 1, memory_order_relaxed,
                                                    memory_order_relaxed));
    return &pool[n];
}

/* @return a slot that an entry for this address may have, NULL if none is left */
static _Atomic(struct entry *) *find_slot(uint64_t start)
{
    unsigned slot = slot_of(start);

    for (unsigned i = 0; i < PROBES; i++) {
        _Atomic(struct entry *) *at = &slots[(slot + i) % SLOTS];
        const struct entry *there = atomic_load_explicit(at, memory_order_acquire);

        if (!there || there->image.identity.start == start)
            return at;
    }
    return NULL;
}

/* Whoever was faster keeps the slot, unless it is the stale entry that was there before. */
static void publish(_Atomic(struct entry *) *slot, struct entry *e)
{
    struct entry *there = atomic_load_explicit(slot, memory_order_acquire);

    if (!there || there->image.identity.start == e->image.identity.start)
        atomic_compare_exchange_strong_explicit(slot, &there, e, memory_order_release,
                                                memory_order_relaxed);
}

const struct sfb_module *sfb_module_cache_add(const struct sfb_image *image)
{
    const ElfW(Phdr) *sframe = sfb_image_phdr(image, PT_GNU_SFRAME);
    const ElfW(Phdr) *eh_frame = sfb_image_phdr(image, PT_GNU_EH_FRAME);
    _Atomic(struct entry *) *slot = find_slot(image->identity.start);
    struct sfb_build_id build_id = { .size = 0 };
    struct sfb_module module;
    struct entry *e;

    /* What an entry is checked against must go away together with the module. */
    if (!slot || !phdrs_inside(image))
        return NULL;
    sfb_module_read(&module, image);
    if (header_leads_to(image))
        sfb_image_build_id(&build_id, image);
    if (build_id.size == 0) {
        /* Nothing tells a table that was refused from a good one in its place. */
        if ((module.section_status != SFB_OK && module.section_status != SFB_NO_SECTION) ||
            (module.eh_frame_status != SFB_OK && module.eh_frame_status != SFB_NO_EH_FRAME))
            return NULL;
    }
    e = take_entry();
    if (!e)
        return NULL;
    e->image = *image;
    e->build_id = build_id;
    e->module = module;
    if (sframe)
        e->sframe = *sframe;
    if (eh_frame)
        e->eh_frame = *eh_frame;
    if (module.section_status == SFB_OK)
        memcpy(e->header, module.section.data, sizeof e->header);
    if (build_id.size > 0 && (module.section_status == SFB_OK || module.eh_frame_status == SFB_OK))
        e->module.id = (uint16_t)(e - pool + 1);
    publish(slot, e);
    return &e->module;
}

enum sfb_status sfb_module_rule(const struct sfb_module *module, uint64_t pc, struct sfb_rule *rule,
                                uint64_t *start)
{
    enum sfb_status status = module->section_status;
    struct sfb_cfi_fde cfi;
    struct sfb_fde fde;

    if (status == SFB_OK)
        status = sfb_fde_find(&module->section, pc, &fde, NULL);
    if (status == SFB_OK)
        status = sfb_section_find(&module->section, pc, rule, NULL);
    if (status == SFB_OK) {
        *start = fde.start;
        return SFB_OK;
    }
    status = module->eh_frame_status;
    if (status == SFB_OK)
        status = sfb_eh_frame_fde_find(&module->eh_frame, pc, &cfi, NULL);
    if (status == SFB_OK)
        status = sfb_eh_frame_find(&module->eh_frame, pc, rule, NULL);
    if (status == SFB_OK)
        *start = cfi.start;
    return status;
}
