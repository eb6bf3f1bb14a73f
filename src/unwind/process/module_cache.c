/*
 * The module cache: about 156 KiB, of which a process touches 300 bytes a module, and its slots, 8
 * KiB.
 *
 * Invariants:
 * - An entry is written by one thread, published by a release store of its address, and never
 *   written again: readers need no lock and no sequence number.
 * - Entries are never freed once they were published. Each load that differs from the one before at
 *   its address takes one, and after ENTRIES of them new modules are read anew at each use: about
 *   1 us more. (One that a cancelled thread was making is lost.)
 * - A slot is empty at first, and is overwritten only by an entry for the same start address, which
 *   replaces a stale one. Whoever loses a race for a slot merely has an entry that nobody finds.
 * - A module's id is given once. It stands for the very bytes of the file at this address, as far
 *   as the linker's build-id does (not one that was made up by hand), which is part of what is
 *   compared: what a cache remembers under an id can never be true of another file. A module
 *   without a build-id, or whose ELF header does not say where the program headers are, has no id,
 *   and nothing of its tables is remembered; unless it is permanent: it stays as long as the process does, and
 *   nothing can take its place.
 *
 * Tried and dropped: a sorted table swapped by pointer. It has to be freed some day, so its
 * readers, who are in signal handlers, have to be counted; and it has to hear of every dlclose().
 */
#include "unwind/process/module_cache.h"

#include <stdatomic.h>
#include <stddef.h>
#include <string.h>

#include "unwind/process/live_memory.h"
#include "unwind/walk/rule_cache.h"

enum { ENTRIES = 511, SLOTS = SFB_LOADED_REMEMBERED, PROBES = 8, SECTION_HEADER_SIZE = 28 };

_Static_assert((ENTRIES | (int)SFB_MODULE_PERMANENT) <= (int)SFB_RULE_CACHE_ID_MAX,
               "every entry can have an id");
_Static_assert(ENTRIES < (int)SFB_MODULE_PERMANENT, "one bit of it can say more");

/* What of a program header a table depends on. */
struct place {
    uint64_t vaddr, size; /* size 0: the module had none */
};

struct entry {
    struct sfb_loaded_image image;
    struct place sframe, eh_frame; /* as they were */
    uint8_t header[SECTION_HEADER_SIZE];
    struct sfb_build_id build_id;
    struct sfb_module module;
};

_Static_assert(offsetof(struct entry, image) == 0, "see entry_of()");

static struct entry pool[ENTRIES];
static _Atomic(uint64_t) taken[(ENTRIES + 63) / 64]; /* a bit for each entry of the pool */

struct sfb_rule_cache sfb_live_rules;
uint8_t sfb_module_eh_frame[SFB_RULE_CACHE_ID_MAX + 1];
static _Atomic(struct entry *) slots[SLOTS];

static unsigned cache_slot_of(uint64_t start)
{
    return (unsigned)(((start >> 12) * 0x9e3779b97f4a7c15u) >> 32) % SLOTS;
}

/* Whether the ELF header, where the module starts, leads to these program headers. */
static bool header_leads_to(const struct sfb_loaded_image *image)
{
    const ElfW(Ehdr) *ehdr =
        (const void *)(uintptr_t)image->identity.start; /* NOLINT(performance-no-int-to-ptr) */
    uint64_t offset = (uintptr_t)image->phdrs - image->identity.start;

    /* Both on the first page: it is there, whatever else of the module is. */
    return offset >= sizeof *ehdr && offset <= SFB_IMAGE_HEADER_PAGE &&
           image->phdr_count * sizeof *image->phdrs <= SFB_IMAGE_HEADER_PAGE - offset &&
           memcmp(ehdr->e_ident, ELFMAG, SELFMAG) == 0 && ehdr->e_phoff == offset &&
           ehdr->e_phnum == image->phdr_count;
}

static bool same_build_id(const struct entry *e)
{
    const struct sfb_build_id *id = &e->build_id;

    struct sfb_build_id now;

    /* Right behind the headers, as linkers put it; and of this size, as they make it. */
    if (id->at && id->size == SFB_BUILD_ID_SHA1)
        return memcmp(id->at, id->bytes, SFB_BUILD_ID_SHA1) == 0;
    if (!header_leads_to(&e->image))
        return false;
    sfb_image_build_id(&now, &e->image);
    return now.size == id->size && memcmp(now.bytes, id->bytes, now.size) == 0;
}

static struct place place_of(const ElfW(Phdr) * p)
{
    return p ? (struct place){ p->p_vaddr, p->p_memsz } : (struct place){ 0, 0 };
}

static bool same_place(const struct place *was, struct place is)
{
    return was->vaddr == is.vaddr && was->size == is.size;
}

static bool same_section(const struct entry *e)
{
    return same_place(&e->sframe, place_of(sfb_image_phdr(&e->image, SFB_PT_GNU_SFRAME))) &&
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
    struct sfb_eh_frame now;
    enum sfb_status status;

    if (!same_place(&e->eh_frame, place_of(sfb_image_phdr(&e->image, PT_GNU_EH_FRAME))))
        return false;
    if (e->eh_frame.size == 0)
        return true;
    status = sfb_image_eh_frame(&now, &e->image);
    return status == e->module.eh_frame_status &&
           (status != SFB_OK || same_tables(&now, &e->module.eh_frame));
}

/*
 * Whether the last bytes of its tables can be read: a file becomes shorter from its end. What lies
 * before them in the file, the ELF header first of all, can be read then, too. (Not inlined: it
 * takes no stack while the tables are compared.)
 */
static __attribute__((noinline)) bool tables_readable(const struct entry *e)
{
    const struct sfb_module *m = &e->module;
    const struct sfb_eh_frame *eh = &m->eh_frame;
    uint64_t section_end = (uintptr_t)m->section.data + m->section.size, eh_end = 0;

    if (m->eh_frame_status == SFB_OK) {
        eh_end = eh->address + eh->size;
        if (!sfb_page_probe(eh_end - 1) ||
            (eh->gap_end != 0 && !sfb_page_probe(eh->address + eh->gap - 1)))
            return false;
    }
    if (m->section_status == SFB_OK && (section_end > eh_end || section_end <= eh->address))
        return sfb_page_probe(section_end - 1);
    return eh_end != 0 || sfb_page_probe(e->image.identity.start);
}

/*
 * objcopy takes .sframe out of a file or puts one in and leaves the build-id as it is; nobody does
 * that to .eh_frame, whose place is part of the identity.
 */
static bool same_bytes(const struct entry *e)
{
    return (e->build_id.size > 0 ? header_leads_to(&e->image) && same_build_id(e)
                                 : same_eh_frame(e)) &&
           same_section(e);
}

/* @return the entry's module, NULL if it is another one by now */
static __attribute__((noinline)) const struct sfb_module *compare(const struct entry *e)
{
    return tables_readable(e) && (e->module.id & SFB_MODULE_PERMANENT || same_bytes(e)) ? &e->module
                                                                                        : NULL;
}

/* The same, whether it has to be looked at or not. (That is the last call, for little stack.) */
static const struct sfb_module *still_true(const struct entry *e,
                                           const struct sfb_module_identity *identity, bool doubt)
{
    if (e->image.identity.end != identity->end ||
        e->image.identity.link_map != identity->link_map ||
        e->image.identity.eh_frame != identity->eh_frame)
        return NULL;
    return e->module.id & SFB_MODULE_PERMANENT && !doubt ? &e->module : compare(e);
}

/*
 * Less than still_true(): rules that were learnt hold for the code, whatever table says so now, and
 * the build-id is the code's.
 */
bool sfb_module_id_matches(uint32_t id, const struct sfb_module_identity *identity, bool doubt)
{
    const struct entry *e = &pool[(id & ~(uint32_t)SFB_MODULE_PERMANENT) - 1];

    return e->image.identity.start == identity->start && e->image.identity.end == identity->end &&
           e->image.identity.link_map == identity->link_map &&
           e->image.identity.eh_frame == identity->eh_frame &&
           (id & SFB_MODULE_PERMANENT ||
            (e->build_id.size > 0 && (!doubt || sfb_page_probe(identity->start)) &&
             same_build_id(e)));
}

void sfb_module_id_place(uint32_t id, uint64_t *start, uint64_t *size)
{
    const struct sfb_module_identity *was =
        &pool[(id & ~(uint32_t)SFB_MODULE_PERMANENT) - 1].image.identity;

    *start = was->start;
    *size = was->end - was->start;
}

bool sfb_loaded_remembered(struct sfb_loaded *out, unsigned i)
{
    const struct entry *e = atomic_load_explicit(&slots[i], memory_order_acquire);

    if (!e)
        return false;
    *out = (struct sfb_loaded){ .start = e->image.identity.start,
                                .end = e->image.identity.end,
                                .bias = e->image.bias,
                                .link_map = (uintptr_t)e->image.identity.link_map,
                                .build_id = e->build_id };
    return true;
}

const struct sfb_module *sfb_module_cache_find(const struct sfb_module_identity *identity,
                                               bool doubt)
{
    unsigned slot = cache_slot_of(identity->start);

    for (unsigned i = 0; i < PROBES; i++) {
        const struct entry *e =
            atomic_load_explicit(&slots[(slot + i) % SLOTS], memory_order_acquire);

        if (!e)
            return NULL;
        if (e->image.identity.start == identity->start)
            return still_true(e, identity, doubt);
    }
    return NULL;
}

static bool phdrs_inside(const struct sfb_loaded_image *image)
{
    uint64_t first = (uintptr_t)image->phdrs;

    return first >= image->identity.start && first < image->identity.end &&
           image->phdr_count * sizeof *image->phdrs <= image->identity.end - first;
}

struct sfb_loaded_image *sfb_module_cache_take(void)
{
    uint64_t free;

    for (unsigned word = 0; word < sizeof taken / sizeof *taken; word++) {
        while ((free = ~atomic_load_explicit(&taken[word], memory_order_relaxed)) != 0) {
            unsigned bit = (unsigned)__builtin_ctzll(free), i = word * 64 + bit;

            if (i >= ENTRIES)
                return NULL;
            if (!(atomic_fetch_or_explicit(&taken[word], 1ull << bit, memory_order_acquire) >> bit &
                  1))
                return &pool[i].image;
        }
    }
    return NULL;
}

static struct entry *entry_of(struct sfb_loaded_image *image)
{
    return (struct entry *)image; /* its first member */
}

void sfb_module_cache_give_back(struct sfb_loaded_image *image)
{
    size_t i = (size_t)(entry_of(image) - pool);

    atomic_fetch_and_explicit(&taken[i / 64], ~(1ull << i % 64), memory_order_release);
}

/* @return a slot that an entry for this address may have, NULL if none is left */
static _Atomic(struct entry *) *find_slot(uint64_t start)
{
    unsigned slot = cache_slot_of(start);

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

bool sfb_module_code(const struct sfb_module *module, uint64_t address, uint64_t *lo, uint64_t *hi)
{
    const struct sfb_loaded_image *image;

    if (!(module->id & SFB_MODULE_PERMANENT))
        return false;
    image = &pool[(module->id & ~(uint32_t)SFB_MODULE_PERMANENT) - 1].image;
    for (unsigned i = 0; i < image->phdr_count; i++) {
        const ElfW(Phdr) *p = &image->phdrs[i];
        const uint32_t wanted = PF_R | PF_X;

        *lo = (image->bias + p->p_vaddr + 7) & ~(uint64_t)7;
        *hi = (image->bias + p->p_vaddr + p->p_filesz) & ~(uint64_t)7;
        if (p->p_type == PT_LOAD && (p->p_flags & wanted) == wanted && address >= *lo &&
            address < *hi)
            return true;
    }
    return false;
}

/* Whether what an entry was made from can be told from other bytes in the same place. */
static bool can_be_told(const struct entry *e)
{
    const struct sfb_module *m = &e->module;

    if (e->build_id.size > 0)
        return true;
    /* Nothing tells a table that was refused from a good one in its place. */
    return (m->section_status == SFB_OK || m->section_status == SFB_NO_SECTION) &&
           (m->eh_frame_status == SFB_OK || m->eh_frame_status == SFB_NO_EH_FRAME);
}

/*
 * What the entry says is true: whoever finds it may go by it. (Not inlined: while the module is read
 * this takes no stack.)
 */
static __attribute__((noinline)) const struct sfb_module *enter(struct entry *e, bool permanent)
{
    _Atomic(struct entry *) *slot = find_slot(e->image.identity.start);
    struct sfb_module *module = &e->module;

    if (!slot) {
        sfb_module_cache_give_back(&e->image);
        return NULL;
    }
    e->sframe = place_of(sfb_image_phdr(&e->image, SFB_PT_GNU_SFRAME));
    e->eh_frame = place_of(sfb_image_phdr(&e->image, PT_GNU_EH_FRAME));
    if (module->section_status == SFB_OK)
        memcpy(e->header, module->section.data, sizeof e->header);
    if ((e->build_id.size > 0 || permanent) &&
        (module->section_status == SFB_OK || module->eh_frame_status == SFB_OK)) {
        module->id = (uint16_t)((e - pool + 1) | (permanent ? SFB_MODULE_PERMANENT : 0));
        sfb_module_eh_frame[module->id] = module->section_status != SFB_OK;
    }
    publish(slot, e);
    return module;
}

const struct sfb_module *sfb_module_cache_put(struct sfb_loaded_image *image, bool permanent)
{
    struct entry *e = entry_of(image);

    /* What an entry is checked against must go away together with the module. */
    if (phdrs_inside(image)) {
        e->build_id.size = 0;
        if (header_leads_to(image))
            sfb_image_build_id(&e->build_id, image);
        sfb_module_read(&e->module, image);
        /* What a file lacks may be there in a moment. */
        if (permanent || (can_be_told(e) && sfb_image_is_whole(image)))
            return enter(e, permanent);
    }
    sfb_module_cache_give_back(image);
    return NULL;
}

const struct sfb_module *sfb_module_cache_add(const struct sfb_loaded_image *image, bool permanent)
{
    struct sfb_loaded_image *own = sfb_module_cache_take();

    if (!own)
        return NULL;
    *own = *image;
    return sfb_module_cache_put(own, permanent);
}
