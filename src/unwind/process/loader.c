/*
 * Finds the module of a pc in this process.
 *
 * _dl_find_object() is called for every new module of every walk. It is lock-free, documented as safe
 * in signal handlers, and always right about the modules mapped now, just loaded or just unloaded. It
 * does not give .sframe before glibc 2.42 (and then without its size). So the program headers are read
 * from the ELF header that it leads to. At load and at a refresh, all modules are put into the cache
 * through dl_iterate_phdr(). That takes the loader's lock, and must not be called in a handler.
 */
#include <dlfcn.h>
#include <string.h>
#include <sys/auxv.h>

#include "base/early.h"
#include "unwind/process/libunwind_load.h"
#include "unwind/process/live_memory.h"
#include "unwind/process/loader.h"
#include "unwind/process/loader_state.h"
#include "unwind/process/module_cache.h"
#include "unwind/process/startup.h"
#include "unwind/walk/position.h"

/* [start, end) of this process's program: set once at load. */
static uint64_t program_start, program_end;

static const struct sfb_module *find_live(const struct sfb_modules *modules, uint64_t pc,
                                          struct sfb_module *room);
static const struct sfb_module *learn_live(const struct sfb_modules *modules, uint64_t pc);
static bool read_live_code(struct sfb_memory *memory, uint64_t address, uint64_t *out);

/* The entry points are set once at load. */
enum { BELIEVED, DOUBTED };

static struct sfb_modules live[] = {
    [BELIEVED] = { .find = find_live,
                   .learn = learn_live,
                   .read = read_live_code,
                   .cache = &sfb_live_rules,
                   .tables_are_mapped = true },
    [DOUBTED] = { .find = find_live,
                  .learn = learn_live,
                  .read = sfb_memory_read_doubted,
                  .cache = &sfb_live_rules,
                  .tables_are_mapped = true },
};

/* What glibc answers, then what is kept of it, in one place: glibc's struct has a hundred bytes. */
union answer {
    struct dl_find_object object;
    struct sfb_module_identity identity;
};

static inline bool look_up(union answer *answer, uint64_t pc)
{
    const struct dl_find_object *object = &answer->object;
    struct sfb_module_identity found;

    if (_dl_find_object((void *)(uintptr_t)pc, &answer->object) != 0)
        return false;
    found = (struct sfb_module_identity){ .start = (uintptr_t)object->dlfo_map_start,
                                          .end = (uintptr_t)object->dlfo_map_end,
                                          .link_map = object->dlfo_link_map,
                                          .eh_frame = object->dlfo_eh_frame };
    /* For a static program glibc gives one segment at a time; the tables lie in other segments. */
    if (found.start >= program_start && found.start < program_end) {
        found.start = program_start;
        found.end = program_end;
    }
    answer->identity = found;
    return true;
}

/* Not inlined: glibc's struct must not stay on the stack. */
static __attribute__((noinline)) bool identify(struct sfb_module_identity *out, uint64_t pc)
{
    union answer answer;

    if (!look_up(&answer, pc))
        return false;
    *out = answer.identity;
    return true;
}

/*
 * Finds the program headers of an identity through its ELF header. The header nearly always starts the
 * mapping.
 */
static bool find_image(struct sfb_loaded_image *out)
{
    const struct sfb_module_identity *identity = &out->identity;
    const ElfW(Ehdr) *ehdr = (const void *)(uintptr_t)identity->start;
    uint64_t size, lowest = ~(uint64_t)0;

    if (identity->end - identity->start < sizeof *ehdr ||
        !sfb_pages_probe(identity->start, sizeof *ehdr) ||
        memcmp(ehdr->e_ident, ELFMAG, SELFMAG) != 0 || ehdr->e_phentsize != sizeof(ElfW(Phdr)))
        return false;
    size = (uint64_t)ehdr->e_phnum * sizeof(ElfW(Phdr));
    if (ehdr->e_phoff > identity->end - identity->start ||
        size > identity->end - identity->start - ehdr->e_phoff || ehdr->e_phoff % 8 != 0 ||
        !sfb_pages_probe(identity->start + ehdr->e_phoff, size))
        return false;
    out->phdrs = (const void *)(uintptr_t)(identity->start + ehdr->e_phoff);
    out->phdr_count = ehdr->e_phnum;
    for (unsigned i = 0; i < out->phdr_count; i++)
        if (out->phdrs[i].p_type == PT_LOAD && out->phdrs[i].p_vaddr < lowest)
            lowest = out->phdrs[i].p_vaddr;
    if (lowest == ~(uint64_t)0)
        return false;
    /* The mapping starts with the first page of the lowest segment. */
    out->bias = identity->start - (lowest & ~(uint64_t)4095);
    return true;
}

/* Describes a module that is not cached: the cache is full, or could not detect a stale entry. */
static __attribute__((noinline)) const struct sfb_module *describe(
    const struct sfb_module_identity *identity, struct sfb_module *room)
{
    struct sfb_loaded_image image = { .identity = *identity };

    if (find_image(&image)) {
        sfb_module_read(room, &image);
        return room;
    }
    memset(room, 0, sizeof *room);
    room->start = identity->start;
    room->end = identity->end;
    room->section_status = room->eh_frame_status = SFB_BAD_ELF;
    return room;
}

static const struct sfb_module *find_live(const struct sfb_modules *modules, uint64_t pc,
                                          struct sfb_module *room)
{
    const struct sfb_module *module;
    struct sfb_module_identity identity;

    if (!identify(&identity, pc))
        return NULL;
    module = sfb_module_cache_find(&identity, modules == &live[DOUBTED]);
    if (module)
        return module;
    return room ? describe(&identity, room) : &sfb_module_not_cached;
}

/* About ten system calls, 1.2 us. */
static const struct sfb_module *learn_live(const struct sfb_modules *modules, uint64_t pc)
{
    struct sfb_loaded_image *image = sfb_module_cache_take();

    (void)modules;
    if (!image)
        return NULL;
    if (!identify(&image->identity, pc) || !find_image(image)) {
        sfb_module_cache_give_back(image);
        return NULL;
    }
    return sfb_module_cache_put(image, false);
}

/*
 * Code of a permanent module is read directly; all else is probed. (No address of a local is taken: then
 * the probe, the deepest call of many walks, is a tail call.)
 */
static bool read_live_code(struct sfb_memory *memory, uint64_t address, uint64_t *out)
{
    const struct sfb_module *module = sfb_walk_of_tables(memory)->module;

    if (!module || !sfb_module_code(module, address, &memory->lo, &memory->hi))
        return sfb_memory_read_doubted(memory, address, out);
    *out = sfb_load(address);
    return true;
}

bool sfb_loaded_find(struct sfb_loaded *out, uint64_t pc)
{
    struct sfb_loaded_image image;

    if (!identify(&image.identity, pc))
        return false;
    *out = (struct sfb_loaded){ .start = image.identity.start,
                                .end = image.identity.end,
                                .text_end = image.identity.end,
                                .bias = image.identity.start,
                                .link_map = (uintptr_t)image.identity.link_map };
    if (find_image(&image)) {
        out->bias = image.bias;
        out->text_end = sfb_image_text_end(&image);
        sfb_image_build_id(&out->build_id, &image);
    }
    return true;
}

/* Set once at load; 0: the process has no vDSO. */
static uint64_t vdso;

uint64_t sfb_loader_static(unsigned i)
{
    return i == 0 ? program_start : i == 1 ? vdso : 0;
}

bool sfb_module_is_loaded(uint32_t id, uint64_t pc, bool doubt)
{
    union answer answer; /* identify() would need stack for both structs at once */

    return look_up(&answer, pc) &&
           sfb_module_id_matches(id, &answer.identity, doubt || sfb_loader_is_busy());
}

const struct sfb_modules *sfb_modules_live(bool doubt)
{
    return &live[doubt ? DOUBTED : BELIEVED];
}

static int add_module(struct dl_phdr_info *info, size_t size, void *user)
{
    const struct sfb_startup *startup = user;

    (void)size;
    /* The headers lie in the file, which may have become shorter. */
    if (!sfb_pages_probe((uintptr_t)info->dlpi_phdr, info->dlpi_phnum * sizeof *info->dlpi_phdr))
        return 0;
    for (unsigned i = 0; i < info->dlpi_phnum; i++) {
        struct sfb_loaded_image image = { .phdrs = info->dlpi_phdr,
                                          .phdr_count = info->dlpi_phnum,
                                          .bias = info->dlpi_addr };

        /* Any loaded byte that glibc knows gives the identity that captures look up. */
        if (info->dlpi_phdr[i].p_type != PT_LOAD ||
            !identify(&image.identity, info->dlpi_addr + info->dlpi_phdr[i].p_vaddr))
            continue;
        if (!sfb_module_cache_find(&image.identity, false) &&
            sfb_pages_probe(image.identity.start, sizeof(ElfW(Ehdr))))
            sfb_module_cache_add(&image, startup && sfb_startup_has(startup, info->dlpi_phdr));
        break;
    }
    return 0;
}

void sfb_loader_refresh(void)
{
    dl_iterate_phdr(add_module, NULL);
}

/* The program is the first module. */
static int measure_program(struct dl_phdr_info *info, size_t size, void *user)
{
    uint64_t start = ~(uint64_t)0, end = 0;

    (void)size;
    (void)user;
    for (unsigned i = 0; i < info->dlpi_phnum; i++) {
        const ElfW(Phdr) *p = &info->dlpi_phdr[i];

        if (p->p_type == PT_DYNAMIC)
            sfb_loader_state_begin((const void *)(uintptr_t)(info->dlpi_addr + p->p_vaddr));
        if (p->p_type != PT_LOAD)
            continue;
        if (start > p->p_vaddr)
            start = p->p_vaddr;
        if (end < p->p_vaddr + p->p_memsz)
            end = p->p_vaddr + p->p_memsz;
    }
    if (start < end) {
        program_start = info->dlpi_addr + (start & ~(uint64_t)4095);
        program_end = info->dlpi_addr + end;
    }
    return 1;
}

/* If segments have gaps between them, _dl_find_object() gives only the segment with the code. */
static uint64_t end_of(const struct sfb_loaded_image *image)
{
    uint64_t end = image->identity.end;

    for (unsigned i = 0; i < image->phdr_count; i++) {
        const ElfW(Phdr) *p = &image->phdrs[i];

        if (p->p_type == PT_LOAD && end < image->bias + p->p_vaddr + p->p_memsz)
            end = image->bias + p->p_vaddr + p->p_memsz;
    }
    return end;
}

void sfb_loader_begin(void)
{
    static uint32_t begun;
    static struct sfb_startup startup;
    struct sfb_loaded_image itself;
    uint64_t loader = getauxval(AT_BASE);

    if (__atomic_exchange_n(&begun, 1, __ATOMIC_ACQ_REL))
        return;
    vdso = getauxval(AT_SYSINFO_EHDR);
    dl_iterate_phdr(measure_program, NULL);
    live[BELIEVED].entries.program = getauxval(AT_ENTRY);
    if (loader)
        live[BELIEVED].entries.loader = loader + ((const ElfW(Ehdr) *)(uintptr_t)loader)->e_entry;
    live[DOUBTED].entries = live[BELIEVED].entries;
    sfb_startup_find(&startup);
    dl_iterate_phdr(add_module, &startup);
    if (identify(&itself.identity, sfb_loader_code()) && find_image(&itself))
        sfb_load_count_begin(itself.identity.start, end_of(&itself));
}

/* Called after the modules of load time are in the cache. A signal handler may already be walking. */
static void load_libunwind(void)
{
    const struct sfb_libunwind *lib = sfb_libunwind_load();

    sfb_load_count_prove();
    __atomic_store_n(&live[BELIEVED].libunwind, lib, __ATOMIC_RELEASE);
    __atomic_store_n(&live[DOUBTED].libunwind, lib, __ATOMIC_RELEASE);
}

SFB_EARLY static void begin_loader(void)
{
    sfb_loader_begin();
    load_libunwind();
}
