/*
 * Modules and their cache, on images made in memory: an ELF program header table, a section, and
 * nothing else.
 */
#include <string.h>

#include "support/machine.h"
#include "support/test.h"
#include "unwind/process/module_cache.h"

/* For this machine, sorted, no functions. */
static const struct layout empty = { .abi = (enum sfb_abi)SFB_ARCH_ABI,
                                     .flags = SFB_SECTION_FDE_SORTED,
                                     .fixed_ra = MACHINE_FIXED_RA };
enum { EMPTY_SIZE = 28 };

/* Version 1, with the encodings that linkers write, no entries. */
static const uint8_t empty_hdr[12] = { 1, 0x1b, 0x03, 0x3b };

static struct file {
    ElfW(Phdr) phdrs[4];
    uint8_t section[64];
    uint8_t rest[3 * 4096];
} file __attribute__((aligned(4096)));

static struct sfb_loaded_image good_image(void)
{
    struct sfb_loaded_image image = { .phdrs = file.phdrs, .phdr_count = 3 };

    memset(&file, 0, sizeof file);
    file.phdrs[0] = (ElfW(Phdr)){ .p_type = PT_LOAD,
                                  .p_flags = PF_R,
                                  .p_vaddr = 0x10000,
                                  .p_filesz = sizeof file,
                                  .p_memsz = sizeof file };
    file.phdrs[1] = (ElfW(Phdr)){ .p_type = SFB_PT_GNU_SFRAME,
                                  .p_flags = PF_R,
                                  .p_vaddr = 0x10000 + offsetof(struct file, section),
                                  .p_filesz = 40,
                                  .p_memsz = 40 };
    file.phdrs[2] = (ElfW(Phdr)){ .p_type = PT_GNU_EH_FRAME,
                                  .p_flags = PF_R,
                                  .p_vaddr = 0x10000 + offsetof(struct file, rest),
                                  .p_memsz = sizeof empty_hdr };
    memcpy(file.rest, empty_hdr, sizeof empty_hdr);
    memcpy(file.section, section_bytes(&empty).at, EMPTY_SIZE);
    image.bias = (uintptr_t)&file - 0x10000;
    image.identity = (struct sfb_module_identity){ .start = (uintptr_t)&file,
                                                   .end = (uintptr_t)(&file + 1),
                                                   .link_map = file.rest,
                                                   .eh_frame = file.rest };
    return image;
}

Test(modules, reads_sections_where_they_lie)
{
    struct sfb_loaded_image image = good_image();
    struct sfb_module m;

    sfb_module_read(&m, &image);
    cr_expect(eq(int, m.section_status, SFB_OK));
    cr_expect(eq(ptr, (void *)(uintptr_t)m.section.data, file.section));
    cr_expect(eq(u64, m.section.address, (uintptr_t)file.section));
    cr_expect(eq(int, m.eh_frame_status, SFB_OK));
    cr_expect(eq(ptr, (void *)(uintptr_t)m.eh_frame.data, &file), "the whole segment");
    cr_expect(eq(u64, m.eh_frame.address + m.eh_frame.hdr, (uintptr_t)file.rest));
}

Test(modules, say_why_there_is_no_eh_frame)
{
    static const struct {
        const char *name;
        unsigned phdr;
        ElfW(Phdr) set;
        enum sfb_status want;
    } cases[] = {
        { "none", 2, { .p_type = PT_NOTE }, SFB_NO_EH_FRAME },
        { "empty", 2, { .p_type = PT_GNU_EH_FRAME, .p_vaddr = 0x10000 }, SFB_NO_EH_FRAME },
        { "in no segment",
          2,
          { .p_type = PT_GNU_EH_FRAME, .p_vaddr = 0x90000, .p_memsz = 12 },
          SFB_BAD_ELF },
        { "not one",
          2,
          { .p_type = PT_GNU_EH_FRAME, .p_vaddr = 0x10000, .p_memsz = 12 },
          SFB_TRUNCATED },
        { "segment larger than the mapping",
          0,
          { .p_type = PT_LOAD, .p_flags = PF_R, .p_vaddr = 0x10000, .p_filesz = ~(uint64_t)0 },
          SFB_BAD_ELF },
        { "segment ends in it",
          0,
          { .p_type = PT_LOAD,
            .p_flags = PF_R,
            .p_vaddr = 0x10000,
            .p_filesz = offsetof(struct file, rest) + 6 },
          SFB_TRUNCATED },
    };

    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        struct sfb_loaded_image image = good_image();
        struct sfb_module m;

        file.phdrs[cases[i].phdr] = cases[i].set;
        sfb_module_read(&m, &image);
        if (cases[i].want == SFB_TRUNCATED && cases[i].phdr == 2)
            cr_expect(ne(int, m.eh_frame_status, SFB_OK), "%s", cases[i].name);
        else
            cr_expect(eq(int, m.eh_frame_status, cases[i].want), "%s", cases[i].name);
    }
}

/* The header of .eh_frame in a segment on the first page, and a second segment further on. */
Test(modules, open_eh_frame_in_another_segment_than_its_header)
{
    enum { FIRST = 4000, PLACE = 8192 + 16, BOTH = PLACE + 1024 };
    static const struct {
        const char *name;
        uint64_t at, size; /* of the second segment */
        uint32_t flags;
        int32_t frames; /* where the header says that .eh_frame is */
        enum sfb_status want;
        uint32_t view; /* bytes */
    } cases[] = {
        { "a writable .eh_frame", PLACE, 1024, PF_R | PF_W, PLACE + 64, SFB_OK, BOTH },
        { "right behind the header", FIRST, 2000, PF_R | PF_W, FIRST, SFB_OK, FIRST + 2000 },
        { "beside the header", PLACE, 1024, PF_R | PF_W, 3072, SFB_OK, FIRST },
        { "in neither", PLACE, 1024, PF_R | PF_W, BOTH, SFB_OK, FIRST },
        { "not readable", PLACE, 1024, PF_X, PLACE + 64, SFB_OK, FIRST },
        { "over the first", FIRST - 8, 1024, PF_R | PF_W, FIRST, SFB_BAD_ELF, 0 },
        { "outside of the module", PLACE, 65536, PF_R | PF_W, PLACE + 64, SFB_BAD_ELF, 0 },
        { "a size that wraps", PLACE, ~(uint64_t)0, PF_R | PF_W, PLACE + 64, SFB_BAD_ELF, 0 },
    };

    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        struct sfb_loaded_image image = good_image();
        const int32_t distance = cases[i].frames - (int32_t)offsetof(struct file, rest) - 4;
        const struct sfb_module *kept;
        struct sfb_module m;

        memcpy(file.rest + 4, &distance, sizeof distance);
        file.phdrs[0].p_filesz = FIRST;
        file.phdrs[3] = (ElfW(Phdr)){ .p_type = PT_LOAD,
                                      .p_flags = cases[i].flags,
                                      .p_vaddr = 0x10000 + cases[i].at,
                                      .p_filesz = cases[i].size };
        image.phdr_count = 4;
        sfb_module_read(&m, &image);
        cr_expect(eq(int, m.eh_frame_status, cases[i].want), "%s", cases[i].name);
        kept = sfb_module_cache_add(&image, false);
        cr_expect(eq(int, kept != NULL, cases[i].want == SFB_OK), "%s", cases[i].name);
        if (cases[i].want != SFB_OK)
            continue;
        cr_expect(eq(ptr, (void *)(uintptr_t)m.eh_frame.data, &file), "%s", cases[i].name);
        cr_expect(eq(u32, m.eh_frame.size, cases[i].view), "%s", cases[i].name);
        cr_expect(sfb_module_cache_find(&image.identity, false) == kept, "%s", cases[i].name);
        file.phdrs[3].p_filesz -= 8;
        cr_expect(
            eq(int, sfb_module_cache_find(&image.identity, false) != NULL, cases[i].view == FIRST),
            "%s: a shorter segment", cases[i].name);
    }
}

Test(modules, judges_what_program_headers_say)
{
    static const struct {
        const char *name;
        unsigned phdr;
        ElfW(Phdr) set; /* p_type 0: left as it is */
        enum sfb_status want;
    } cases[] = {
        { "none", 1, { .p_type = PT_NOTE }, SFB_NO_SECTION },
        { "emptied by objcopy -R", 1, { .p_type = SFB_PT_GNU_SFRAME }, SFB_NO_SECTION },
        { "in no segment",
          1,
          { .p_type = SFB_PT_GNU_SFRAME, .p_vaddr = 0x90000, .p_memsz = 40 },
          SFB_BAD_ELF },
        { "below the first segment",
          1,
          { .p_type = SFB_PT_GNU_SFRAME, .p_vaddr = 0xfff0, .p_memsz = 40 },
          SFB_BAD_ELF },
        { "too small for a header",
          1,
          { .p_type = SFB_PT_GNU_SFRAME,
            .p_vaddr = 0x10000 + offsetof(struct file, section),
            .p_memsz = 27 },
          SFB_TRUNCATED },
        { "larger than the segment",
          1,
          { .p_type = SFB_PT_GNU_SFRAME,
            .p_vaddr = 0x10000 + offsetof(struct file, section),
            .p_memsz = ~(uint64_t)0 },
          SFB_OK },
        { "segment not readable",
          0,
          { .p_type = PT_LOAD, .p_flags = PF_X, .p_vaddr = 0x10000, .p_filesz = sizeof file },
          SFB_BAD_ELF },
        { "segment larger than the mapping",
          0,
          { .p_type = PT_LOAD, .p_flags = PF_R, .p_vaddr = 0x10000, .p_filesz = ~(uint64_t)0 },
          SFB_BAD_ELF },
        { "segment ends in the section",
          0,
          { .p_type = PT_LOAD,
            .p_flags = PF_R,
            .p_vaddr = 0x10000,
            .p_filesz = offsetof(struct file, section) + 20 },
          SFB_TRUNCATED },
    };

    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        struct sfb_loaded_image image = good_image();
        struct sfb_module m;

        file.phdrs[cases[i].phdr] = cases[i].set;
        sfb_module_read(&m, &image);
        cr_expect(eq(int, m.section_status, cases[i].want), "%s", cases[i].name);
    }
}

Test(modules, refuse_a_section_for_another_machine)
{
    struct sfb_loaded_image image = good_image();
    struct sfb_module m;

    file.section[AT_ABI] = OTHER_ABI;
    file.section[AT_FIXED_RA] = (uint8_t)OTHER_FIXED_RA;
    sfb_module_read(&m, &image);
    cr_expect(eq(int, m.section_status, SFB_BAD_ABI));
}

Test(modules, cache_answers_only_while_memory_says_the_same)
{
    struct sfb_loaded_image image = good_image();
    struct sfb_module_identity other;
    const struct sfb_module *m = sfb_module_cache_add(&image, false);

    cr_assert(ne(ptr, (void *)(uintptr_t)m, NULL));
    cr_expect(eq(int, m->section_status, SFB_OK));
    cr_expect(sfb_module_cache_find(&image.identity, false) == m);

    other = image.identity;
    other.link_map = &other;
    cr_expect(sfb_module_cache_find(&other, false) == NULL, "another load at the same place");
    other = image.identity;
    other.end -= 8;
    cr_expect(sfb_module_cache_find(&other, false) == NULL, "another size");
    other = image.identity;
    other.eh_frame = file.section;
    cr_expect(sfb_module_cache_find(&other, false) == NULL, "another .eh_frame");

    file.section[8]++;
    cr_expect(sfb_module_cache_find(&image.identity, false) == NULL,
              "another section at the same place");
    file.section[8]--;
    cr_expect(sfb_module_cache_find(&image.identity, false) == m);
    file.phdrs[1].p_vaddr++;
    cr_expect(sfb_module_cache_find(&image.identity, false) == NULL,
              "the section at another place");
    file.phdrs[1].p_vaddr--;
    file.rest[8]++;
    cr_expect(sfb_module_cache_find(&image.identity, false) == NULL, "another .eh_frame_hdr");
    file.rest[8]--;
    file.phdrs[2].p_memsz++;
    cr_expect(sfb_module_cache_find(&image.identity, false) == NULL, "another size of it");
    file.phdrs[2].p_memsz--;
    file.phdrs[0].p_filesz -= 8;
    cr_expect(sfb_module_cache_find(&image.identity, false) == NULL, "a shorter segment with it");
    file.phdrs[0].p_filesz += 8;
    cr_expect(sfb_module_cache_find(&image.identity, false) == m);
    file.phdrs[1].p_type = PT_NOTE;
    cr_expect(sfb_module_cache_find(&image.identity, false) == NULL, "the section gone");
}

/* A file of its own: ELF header, program headers, a note and a section on its first page. */
static struct whole {
    ElfW(Ehdr) ehdr;
    ElfW(Phdr) phdrs[4];
    struct {
        uint32_t name_size, size, type;
        char name[4];
        uint8_t id[20];
    } note;
    uint8_t section[64];
    uint8_t rest[4096];
} whole __attribute__((aligned(4096)));

static struct sfb_loaded_image whole_image(void)
{
    struct sfb_loaded_image image = { .phdrs = whole.phdrs, .phdr_count = 3 };

    memset(&whole, 0, sizeof whole);
    memcpy(whole.ehdr.e_ident, ELFMAG, SELFMAG);
    whole.ehdr.e_phoff = offsetof(struct whole, phdrs);
    whole.ehdr.e_phnum = 3;
    whole.phdrs[0] = (ElfW(Phdr)){
        .p_type = PT_LOAD, .p_flags = PF_R, .p_filesz = sizeof whole, .p_memsz = sizeof whole
    };
    whole.phdrs[1] = (ElfW(Phdr)){ .p_type = SFB_PT_GNU_SFRAME,
                                   .p_vaddr = offsetof(struct whole, section),
                                   .p_memsz = 40 };
    whole.phdrs[2] = (ElfW(Phdr)){ .p_type = PT_NOTE,
                                   .p_vaddr = offsetof(struct whole, note),
                                   .p_memsz = sizeof whole.note };
    whole.note.name_size = 4;
    whole.note.size = sizeof whole.note.id;
    whole.note.type = NT_GNU_BUILD_ID;
    memcpy(whole.note.name, "GNU", 4);
    whole.note.id[3] = 0x42;
    memcpy(whole.section, section_bytes(&empty).at, EMPTY_SIZE);
    image.bias = (uintptr_t)&whole;
    image.identity =
        (struct sfb_module_identity){ .start = (uintptr_t)&whole, .end = (uintptr_t)(&whole + 1) };
    return image;
}

Test(modules, id_stands_for_one_files_bytes)
{
    struct sfb_loaded_image image = whole_image();
    const struct sfb_module *first = sfb_module_cache_add(&image, false), *second;

    cr_assert(first != NULL);
    cr_expect(lt(u16, 0, first->id));
    cr_expect(sfb_module_cache_find(&image.identity, false) == first);
    whole.note.id[19]++;
    cr_expect(sfb_module_cache_find(&image.identity, false) == NULL,
              "another file, alike in all else");
    second = sfb_module_cache_add(&image, false);
    cr_assert(second != NULL);
    cr_expect(ne(u16, second->id, first->id));
    cr_expect(sfb_module_cache_find(&image.identity, false) == second);
    whole.ehdr.e_phnum = 2;
    cr_expect(sfb_module_cache_find(&image.identity, false) == NULL, "other program headers");
}

Test(modules, id_is_only_for_files_that_can_be_told_apart)
{
    static const char *const names[] = { "no note",      "note cut off",  "other note",
                                         "id of size 0", "no ELF header", "headers elsewhere",
                                         "good" };

    for (unsigned i = 0; i < sizeof names / sizeof *names; i++) {
        struct sfb_loaded_image image = whole_image();
        const struct sfb_module *m;

        switch (i) {
        case 0: whole.phdrs[2].p_type = PT_NULL; break;
        case 1: whole.phdrs[2].p_memsz = 30; break;
        case 2: whole.note.name[0] = 'X'; break;
        case 3: whole.note.size = 0; break;
        case 4: whole.ehdr.e_ident[0] = 0; break;
        case 5: whole.ehdr.e_phoff = 8; break;
        default: break;
        }
        m = sfb_module_cache_add(&image, false);
        cr_assert(m != NULL);
        cr_expect(eq(int, m->section_status, SFB_OK), "%s", names[i]);
        cr_expect(eq(int, m->id != 0, i == 6), "%s", names[i]);
    }
}

Test(modules, cache_notices_a_section_where_there_was_none)
{
    struct sfb_loaded_image image = good_image();
    const struct sfb_module *m;

    file.phdrs[1].p_type = PT_NOTE;
    m = sfb_module_cache_add(&image, false);
    cr_assert(m != NULL);
    cr_expect(eq(int, m->section_status, SFB_NO_SECTION));
    cr_expect(sfb_module_cache_find(&image.identity, false) == m);
    file.phdrs[1].p_type = SFB_PT_GNU_SFRAME;
    cr_expect(sfb_module_cache_find(&image.identity, false) == NULL);

    m = sfb_module_cache_add(&image, false);
    cr_assert(m != NULL);
    cr_expect(eq(int, m->section_status, SFB_OK));
    cr_expect(sfb_module_cache_find(&image.identity, false) == m, "the newer entry took its place");
}

Test(modules, cache_refuses_what_it_could_not_check)
{
    struct sfb_loaded_image image = good_image();
    static ElfW(Phdr) elsewhere[3];

    memcpy(elsewhere, file.phdrs, sizeof elsewhere);
    image.phdrs = elsewhere;
    cr_expect(sfb_module_cache_add(&image, false) == NULL);
}

Test(modules, cache_that_is_full_says_so_and_goes_on)
{
    struct sfb_loaded_image image = good_image();
    unsigned added = 0;

    while (added < 100000 && sfb_module_cache_add(&image, false))
        added++;
    cr_expect(ge(u32, added, 100));
    cr_expect(lt(u32, added, 100000));
    cr_expect(sfb_module_cache_find(&image.identity, false) != NULL, "what is in it stays good");
}
