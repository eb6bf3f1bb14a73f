/*
 * One process of all versions: this program of the one that the machine's binutils write, libraries
 * of versions 2 and 3, and libraries whose sections nobody merged, so that there is a header for
 * each object file. A stack through all of them is walked frame by frame, each by the .sframe of
 * its own module.
 */
#include <dlfcn.h>
#include <elf.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/auxv.h>
#include <ucontext.h>

#include "sframe_backtrace.h"
#include "support/compiler.h"
#include "support/test.h"
#include "unwind/machine/arch.h"
#include "unwind/process/loader.h"
#include "unwind/process/module_cache.h"

typedef int function(void *);
typedef int hand_on(function *next, void *arg);

enum { HOPS_MAX = 12, SEEN_MAX = 64 };

/* Where control goes: from the first, through all of them, to capture(). */
static struct hop {
    hand_on *through;
    unsigned version; /* of the module; 0: it may have any */
    bool behind_the_first_header;
} hops[HOPS_MAX];
static unsigned hop_count, at_hop;

static struct seen {
    struct sfb_frame frame;
    unsigned version;
    bool in_first_header;
    uint64_t function;
} seen[SEEN_MAX];
static unsigned seen_count;
static enum sfb_status end;
static struct sframe_backtrace_info info = { .size = sizeof info };
static volatile int sink;

/* What this machine's binutils write. */
static unsigned own_version(void)
{
    const Elf64_Phdr *phdrs = (const void *)getauxval(AT_PHDR);
    uint64_t count = getauxval(AT_PHNUM), bias = 0;
    unsigned version = 0;

    for (uint64_t i = 0; i < count; i++)
        if (phdrs[i].p_type == PT_PHDR)
            bias = (uintptr_t)phdrs - phdrs[i].p_vaddr;
    for (uint64_t i = 0; i < count; i++)
        if (phdrs[i].p_type == SFB_PT_GNU_SFRAME)
            version =
                ((const uint8_t *)(uintptr_t)(bias + phdrs[i].p_vaddr))[2]; /* behind the magic */
    cr_assert(ne(u32, version, 0));
    return version;
}

static void look_at(struct seen *s)
{
    const struct sfb_modules *live = sfb_modules_live(false);
    const uint64_t pc = s->frame.address - (s->frame.kind == SFB_FRAME_RA);
    struct sfb_module room;
    const struct sfb_module *m = live->find(live, pc, &room);
    struct sfb_section section;
    struct sfb_fde fde;

    if (!m || m->section_status != SFB_OK)
        return;
    section = m->section;
    s->in_first_header = true;
    while (sfb_fde_find(&section, pc, &fde, NULL) == SFB_NO_FDE) {
        s->in_first_header = false;
        if (sfb_section_next(&section, &section, NULL) != SFB_OK)
            return;
    }
    s->version = section.version;
    s->function = fde.start;
}

NOINLINE static int capture(void *arg)
{
    struct sfb_walker_options options = { .size = sizeof options, .flags = SFB_WALKER_NO_CACHE };
    struct sfb_context start;
    struct sfb_walker walker;
    uint8_t buffer[1024];
    ucontext_t uc;

    (void)arg;
    getcontext(&uc);
    sfb_context_from_ucontext(&start, &uc);
    cr_assert(eq(int, sfb_walker_init(&walker, &start, SFB_FRAME_PC, &options), SFB_OK));
    for (seen_count = 0; seen_count < SEEN_MAX; seen_count++) {
        end = sfb_walker_next(&walker, &seen[seen_count].frame);
        if (end != SFB_OK)
            break;
        seen[seen_count].version = 0;
        look_at(&seen[seen_count]);
    }
    cr_expect(lt(int, 0, (int)sframe_backtrace_cbf(buffer, sizeof buffer, NULL, &info)));
    return 1;
}

/* From library to library; each step back in this program, too. */
NOINLINE static int go_on(void *arg)
{
    unsigned n = at_hop++;

    sink = n == hop_count ? capture(arg) : hops[n].through(go_on, arg);
    return sink + 1;
}

static void add(hand_on *through, unsigned version, bool behind)
{
    cr_assert(lt(u32, hop_count, HOPS_MAX));
    hops[hop_count++] = (struct hop){ through, version, behind };
}

static void *load(const char *path)
{
    void *library = dlopen(path, RTLD_NOW | RTLD_LOCAL);

    cr_assert(ne(ptr, library, NULL), "%s", dlerror());
    return library;
}

static hand_on *function_of(void *library, const char *name)
{
    hand_on *found;

    /* ISO C has no conversion from void * to a function. */
    *(void **)&found = dlsym(library, name);
    cr_assert(found != NULL, "%s", name);
    return found;
}

/* capture, go_on, the last hop, go_on, ...: every frame by .sframe, in a module of its version. */
static void walk_all(void)
{
    const unsigned own = own_version();

    at_hop = 0;
    go_on(NULL);
    cr_assert(lt(u32, 2 * hop_count + 2, seen_count));
    for (unsigned i = 0; i <= 2 * hop_count + 1; i++) {
        const struct hop *hop =
            i >= 2 && i % 2 == 0 ? &hops[hop_count - i / 2] : &(struct hop){ .version = 0 };
        const struct seen *s = &seen[i];

        cr_expect(eq(int, s->frame.source, i == 0 ? SFB_SOURCE_START : SFB_SOURCE_SFRAME), "%u", i);
        if (hop->version != 0) {
            cr_expect(eq(u32, s->version, hop->version), "%u", i);
            cr_expect(eq(u64, s->function, (uintptr_t)hop->through), "%u", i);
            cr_expect(eq(int, s->in_first_header, !hop->behind_the_first_header), "%u", i);
        } else if (i > 0) {
            cr_expect(s->version == own && s->function == (uintptr_t)go_on, "%u", i);
        }
    }
    cr_expect(eq(int, end, SFB_END), "%s", sfb_status_str(end));
    cr_expect(eq(int, info.end, SFB_END), "%s", sfb_status_str(info.end));
    cr_expect(ge(u32, info.by_source[SFB_SOURCE_SFRAME], 2 * hop_count + 1));
}

static void print_versions(const char *what)
{
    fprintf(stderr, "versions: %s:", what);
    for (unsigned i = 0; i <= 2 * hop_count + 1; i++)
        fprintf(stderr, " %u", seen[i].version);
    fprintf(stderr, "\n");
}

Test(versions, of_one_process_are_walked_frame_by_frame)
{
    void *two = load(SFB_TEST_LIBS "/v2/libversions-2.so");
    void *three = load(SFB_TEST_LIBS "/v3/libversions-3.so");

    add(function_of(two, "first"), 2, false);
    add(function_of(three, "first"), 3, false);
    add(function_of(two, "first"), 2, false);
    walk_all();
    print_versions("from capture() outwards");
}

#ifdef SFB_GOLD

static uint8_t *whole_file(const char *path, size_t *size)
{
    FILE *file = fopen(path, "rb");
    uint8_t *data = malloc(1 << 20);

    cr_assert(file != NULL && data != NULL, "%s", path);
    *size = fread(data, 1, 1 << 20, file);
    fclose(file);
    return data;
}

/*
 * gold makes no program header for .sframe, so that nobody finds it in memory: a copy of the
 * library gets one, in the place of one that can be spared.
 */
static void *load_with_header(const char *path)
{
    char copy[] = "/tmp/sfb-versions-XXXXXX";
    int fd = mkstemp(copy);
    size_t size;
    uint8_t *data = whole_file(path, &size);
    const Elf64_Ehdr *ehdr = (const void *)data;
    Elf64_Phdr *phdrs = (void *)(data + ehdr->e_phoff);
    const Elf64_Shdr *shdrs = (const void *)(data + ehdr->e_shoff);
    const char *names = (const char *)data + shdrs[ehdr->e_shstrndx].sh_offset;
    const Elf64_Shdr *sframe = NULL;
    bool done = false;
    void *library;
    FILE *file;

    for (unsigned i = 0; i < ehdr->e_shnum; i++)
        if (strcmp(names + shdrs[i].sh_name, ".sframe") == 0)
            sframe = &shdrs[i];
    cr_assert(sframe != NULL);
    for (unsigned i = 0; i < ehdr->e_phnum && !done; i++) {
        if (phdrs[i].p_type != PT_GNU_RELRO)
            continue;
        phdrs[i] = (Elf64_Phdr){ .p_type = SFB_PT_GNU_SFRAME,
                                 .p_flags = PF_R,
                                 .p_offset = sframe->sh_offset,
                                 .p_vaddr = sframe->sh_addr,
                                 .p_paddr = sframe->sh_addr,
                                 .p_filesz = sframe->sh_size,
                                 .p_memsz = sframe->sh_size,
                                 .p_align = 8 };
        done = true;
    }
    cr_assert(done);
    file = fdopen(fd, "wb");
    cr_assert(file != NULL);
    cr_assert(eq(sz, fwrite(data, 1, size, file), size));
    fclose(file);
    library = load(copy);
    remove(copy);
    free(data);
    return library;
}

Test(versions, whose_sections_nobody_merged_are_walked_by_each_header)
{
    static const char *const paths[] = { SFB_TEST_LIBS "/libversions-unmerged-1.so",
                                         SFB_TEST_LIBS "/v2/libversions-unmerged-2.so",
                                         SFB_TEST_LIBS "/v3/libversions-unmerged-3.so" };

    for (unsigned i = 0; i < 3; i++) {
        void *library = load_with_header(paths[i]);

        const unsigned version = i == 0 ? own_version() : i + 1;

        add(function_of(library, "first"), version, false);
        add(function_of(library, "second"), version, true);
        add(function_of(library, "third"), version, true);
    }
    walk_all();
    print_versions("with three headers a library");
}

#else

Test(versions, whose_sections_nobody_merged_are_walked_by_each_header)
{
    cr_skip_test("there is no gold, which leaves sections as they are");
}

#endif
