/*
 * The module cache.
 *
 * Invariants:
 * - An entry is written by one thread, published by a release store of its address, and never
 *   written again: readers need no lock and no sequence number.
 * - Entries are never freed. A process that unloads libraries for ever uses up the pool after
 *   ENTRIES different ones; from then on new modules are read anew at each use, about 50 ns more.
 * - A slot is empty at first, and is overwritten only by an entry for the same start address, which
 *   replaces a stale one. Whoever loses a race for a slot merely has an entry that nobody finds.
 * - A module's id is given once. It stands for the very bytes of the file, because the build-id is
 *   part of what is compared: what a cache remembers under an id can never be true of another file.
 *   A module without a build-id, or whose ELF header does not say where the program headers are,
 * has no id, and nothing of its tables is remembered.
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

static bool still_true(const struct entry *e, const struct sfb_module_identity *identity)
{
    const ElfW(Phdr) * p;

    if (e->image.identity.end != identity->end ||
        e->image.identity.link_map != identity->link_map ||
        e->image.identity.eh_frame != identity->eh_frame)
        return false;
    p = sfb_image_phdr(&e->image, PT_GNU_SFRAME);
    if (!p)
        return e->sframe.p_type == PT_NULL;
    return memcmp(p, &e->sframe, sizeof *p) == 0 &&
           (e->module.section_status != SFB_OK ||
            memcmp(e->module.section.data, e->header, sizeof e->header) == 0) &&
           (e->module.id == 0 || same_build_id(e));
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

static void publish(struct entry *e)
{
    unsigned slot = slot_of(e->image.identity.start);

    for (unsigned i = 0; i < PROBES; i++) {
        _Atomic(struct entry *) *at = &slots[(slot + i) % SLOTS];
        struct entry *there = atomic_load_explicit(at, memory_order_acquire);

        if (there && there->image.identity.start != e->image.identity.start)
            continue;
        atomic_compare_exchange_strong_explicit(at, &there, e, memory_order_release,
                                                memory_order_relaxed);
        return;
    }
}

const struct sfb_module *sfb_module_cache_add(const struct sfb_image *image)
{
    const ElfW(Phdr) *p = sfb_image_phdr(image, PT_GNU_SFRAME);
    struct entry *e;

    /* What an entry is checked against must go away together with the module. */
    if (!phdrs_inside(image))
        return NULL;
    e = take_entry();
    if (!e)
        return NULL;
    e->image = *image;
    if (p)
        e->sframe = *p;
    sfb_module_read(&e->module, image);
    if (e->module.section_status == SFB_OK) {
        memcpy(e->header, e->module.section.data, sizeof e->header);
        if (header_leads_to(image))
            sfb_image_build_id(&e->build_id, image);
        if (e->build_id.size > 0)
            e->module.id = (uint16_t)(e - pool + 1);
    }
    publish(e);
    return &e->module;
}
