/*
 * The module cache: about 158 KiB. A process touches 300 bytes a module, and 2 KiB of slots.
 *
 * Invariants:
 * - An entry is written by one thread, published by a release store of its address, and never
 *   written again. So readers need no lock and no sequence number.
 * - Published entries are never freed. Each load takes an entry if it differs from the one before at
 *   its address. After ENTRIES of them, new modules are read anew at each use: about 1 us more. (A
 *   thread cancelled while making an entry loses it.)
 * - A slot is empty at first. It is overwritten only by an entry for the same start address, which
 *   replaces a stale one. The loser of a race for a slot has an entry that is never found.
 * - A module's id is never reused. It stands for the bytes of the file at this address, as the linker's
 *   build-id does (not a build-id made by hand). The build-id is part of the comparison: a rule under
 *   an id can never apply to another file. A module has no id if its build-id is missing, or if its ELF
 *   header does not give the place of the program headers. Then its rules are not cached. A permanent
 *   module needs neither for its id: it stays until the process ends, and cannot be replaced.
 *
 * Tried and dropped: a sorted table swapped by pointer. It must be freed some day, so its readers in
 * signal handlers must be counted; and it must be notified of every dlclose().
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

/* The members of a program header that a table depends on. */
struct place {
    uint64_t vaddr, size; /* size 0: no such header */
};

struct entry {
    struct sfb_loaded_image image;
    struct place sframe, eh_frame; /* when the entry was made */
    uint8_t header[SECTION_HEADER_SIZE];
    struct sfb_build_id build_id;
    struct sfb_module module;
};

_Static_assert(offsetof(struct entry, image) == 0, "see entry_of()");

static struct entry pool[ENTRIES];
static _Atomic(uint64_t) taken[(ENTRIES + 63) / 64]; /* a bit for each entry of the pool */

struct sfb_rule_cache sfb_live_rules;
uint8_t sfb_module_eh_frame[SFB_RULE_CACHE_ID_MAX + 1];
static _Atomic(uint16_t) slots[SLOTS]; /* an entry's number in the pool, from 1; 0: empty */

static unsigned cache_slot_of(uint64_t start)
{
    return (unsigned)(((start >> 12) * 0x9e3779b97f4a7c15u) >> 32) % SLOTS;
}

/* Tells whether the ELF header at the module's start leads to these program headers. */
static bool header_leads_to(const struct sfb_loaded_image *image)
{
    const ElfW(Ehdr) *ehdr =
        (const void *)(uintptr_t)image->identity.start; /* NOLINT(performance-no-int-to-ptr) */
    uint64_t offset = (uintptr_t)image->phdrs - image->identity.start;

    /* Both on the first page: it is mapped, whatever else of the module is not. */
    return offset >= sizeof *ehdr && offset <= SFB_IMAGE_HEADER_PAGE &&
           image->phdr_count * sizeof *image->phdrs <= SFB_IMAGE_HEADER_PAGE - offset &&
           memcmp(ehdr->e_ident, ELFMAG, SELFMAG) == 0 && ehdr->e_phoff == offset &&
           ehdr->e_phnum == image->phdr_count;
}

static bool same_build_id(const struct entry *e)
{
    const struct sfb_build_id *id = &e->build_id;

    struct sfb_build_id now;

    /* Right behind the headers, and of the default size, as linkers write it. */
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

/* Tells whether two descriptions are of the same bytes. */
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
 * Tells whether the last bytes of its tables are readable. A file becomes shorter from its end, so all
 * bytes before them are readable too, the ELF header first of all. (Not inlined: it takes no stack
 * while the tables are compared.)
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
 * objcopy can remove or add .sframe without changing the build-id, so its bytes are compared. No tool
 * does that to .eh_frame, and its place is part of the identity.
 */
static bool same_bytes(const struct entry *e)
{
    return (e->build_id.size > 0 ? header_leads_to(&e->image) && same_build_id(e)
                                 : same_eh_frame(e)) &&
           same_section(e);
}

/* @return the entry's module; NULL: the entry is stale */
static __attribute__((noinline)) const struct sfb_module *compare(const struct entry *e)
{
    return tables_readable(e) && (e->module.id & SFB_MODULE_PERMANENT || same_bytes(e)) ? &e->module
                                                                                        : NULL;
}

/* The same, comparing only if needed. (compare() is a tail call, to save stack.) */
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
 * Checks less than still_true(): cached rules are valid for the code, whatever the tables state now,
 * and the build-id identifies the code.
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

static const struct entry *entry_at(unsigned slot)
{
    const uint16_t number = atomic_load_explicit(&slots[slot], memory_order_acquire);

    return number ? &pool[number - 1] : NULL;
}

bool sfb_loaded_remembered(struct sfb_loaded *out, unsigned i)
{
    const struct entry *e = entry_at(i);

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
        const struct entry *e = entry_at((slot + i) % SLOTS);

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

/* @return a slot for an entry of this address; NULL: no slot is left */
static _Atomic(uint16_t) *find_slot(uint64_t start)
{
    unsigned slot = cache_slot_of(start);

    for (unsigned i = 0; i < PROBES; i++) {
        const struct entry *there = entry_at((slot + i) % SLOTS);

        if (!there || there->image.identity.start == start)
            return &slots[(slot + i) % SLOTS];
    }
    return NULL;
}

/* Replaces an empty slot or the stale entry. If another thread was faster, its entry stays. */
static void publish(_Atomic(uint16_t) *slot, const struct entry *e)
{
    uint16_t there = atomic_load_explicit(slot, memory_order_acquire);

    if (!there || pool[there - 1].image.identity.start == e->image.identity.start)
        atomic_compare_exchange_strong_explicit(slot, &there, (uint16_t)(e - pool + 1),
                                                memory_order_release, memory_order_relaxed);
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
        const uint64_t start = (image->bias + p->p_vaddr + 7) & ~(uint64_t)7;
        const uint64_t end = (image->bias + p->p_vaddr + p->p_filesz) & ~(uint64_t)7;

        if (p->p_type == PT_LOAD && (p->p_flags & wanted) == wanted && address >= start &&
            address < end) {
            *lo = start;
            *hi = end;
            return true;
        }
    }
    return false;
}

/* Tells whether a comparison could detect other bytes in the entry's place. */
static bool can_be_told(const struct entry *e)
{
    const struct sfb_module *m = &e->module;

    if (e->build_id.size > 0)
        return true;
    /* A refused table and a valid one in its place could not be distinguished. */
    return (m->section_status == SFB_OK || m->section_status == SFB_NO_SECTION) &&
           (m->eh_frame_status == SFB_OK || m->eh_frame_status == SFB_NO_EH_FRAME);
}

/*
 * Gives an id to a complete entry, and publishes it. (Not inlined: it takes no stack while the module is
 * read.)
 */
static __attribute__((noinline)) const struct sfb_module *enter(struct entry *e, bool permanent)
{
    _Atomic(uint16_t) *slot = find_slot(e->image.identity.start);
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

    /* The bytes that an entry is compared with must be unmapped together with the module. */
    if (phdrs_inside(image)) {
        e->build_id.size = 0;
        if (header_leads_to(image))
            sfb_image_build_id(&e->build_id, image);
        sfb_module_read(&e->module, image);
        /* A file that is too short now may be complete in a moment: not cached. */
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
