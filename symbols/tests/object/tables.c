/* Files as modules for a walk: programs and libraries of fixtures/elf, wherever they are loaded. */
#include "symbols/tables.h"

#include <stdio.h>
#include <stdlib.h>

#include "support/test.h"

#define FOLDER SFB_SOURCE_DIR "/fixtures/elf/"
#define FAR    UINT64_C(0x7f1234560000)

static const char *const files[] = {
    FOLDER "v1/amd64/prog_sig",
    FOLDER "v1/amd64/free_pie",
    FOLDER "v1/aarch64/prog_pac_bkey",
    FOLDER "v1/aarch64_be/libsample_pac_bkey.so",
};

struct loaded {
    uint8_t *bytes;
    size_t size;
    struct object object;
};

static struct loaded load(const char *path)
{
    struct loaded l = { .bytes = malloc(1 << 20) };
    struct object_fault fault;
    FILE *file = fopen(path, "rb");

    cr_assert(file && l.bytes, "%s", path);
    l.size = fread(l.bytes, 1, 1 << 20, file);
    fclose(file);
    cr_assert(object_open(&l.object, &fault, l.bytes, l.size), "%s", path);
    return l;
}

static void unload(struct loaded *l)
{
    object_close(&l->object);
    free(l->bytes);
}

/* Both tables find each function of .sframe, and count its CFA in the same way where it starts. */
Test(object_tables, are_what_a_walk_needs_at_any_address)
{
    static const uint64_t biases[] = { 0, FAR };

    for (size_t i = 0; i < sizeof files / sizeof *files; i++)
        for (size_t b = 0; b < 2; b++) {
            struct loaded l = load(files[i]);
            struct object_tables t;
            const struct sfb_module *m = &t.module;

            cr_assert(object_tables_open(&t, &l.object, biases[b]), "%s", files[i]);
            cr_assert(eq(int, m->section_status, SFB_OK), "%s", files[i]);
            cr_assert(eq(int, m->eh_frame_status, SFB_OK), "%s", files[i]);
            cr_expect(m->section.fde_count > 5, "%s", files[i]);
            for (uint32_t k = 0; k < m->section.fde_count; k++) {
                struct sfb_rule ours, theirs;
                struct sfb_fde fde;

                cr_assert(eq(int, sfb_fde_read(&m->section, k, &fde, NULL), SFB_OK));
                cr_expect(fde.start >= m->start && fde.start + fde.size <= m->end, "%#lx",
                          fde.start);
                cr_assert(eq(int, sfb_section_find(&m->section, fde.start, &ours, NULL), SFB_OK));
                cr_assert(
                    eq(int, sfb_eh_frame_find(&m->eh_frame, fde.start, &theirs, NULL), SFB_OK));
                if (theirs.flags & SFB_RULE_OUTERMOST) /* of which as 2.40 knows nothing */
                    continue;
                cr_expect(eq(int, ours.cfa_base, theirs.cfa_base), "%s: %#lx", files[i], fde.start);
                cr_expect(eq(i32, ours.cfa_offset, theirs.cfa_offset), "%s: %#lx", files[i],
                          fde.start);
            }
            object_tables_close(&t);
            unload(&l);
        }
}

Test(object_tables, say_what_is_not_there)
{
    struct loaded l = load(files[0]);
    struct object_tables t;
    const GElf_Phdr *hdr = object_segment(&l.object, PT_GNU_EH_FRAME);
    const size_t index = (size_t)(hdr - l.object.phdrs);
    const size_t sframe = object_section_after(&l.object, 0, ".sframe");

    l.object.phdrs[index].p_vaddr = FAR; /* where nothing is loaded to */
    l.object.sections[sframe].header.sh_offset = l.size;
    cr_assert(object_tables_open(&t, &l.object, 0));
    cr_expect(eq(int, t.module.eh_frame_status, SFB_BAD_ELF));
    cr_expect(eq(int, t.module.section_status, SFB_BAD_ELF));
    object_tables_close(&t);

    l.object.phdrs[index].p_type = PT_NULL;
    l.object.sections[sframe].name = "";
    for (size_t i = 0; i < l.object.phdr_count; i++)
        if (l.object.phdrs[i].p_type == SFB_PT_GNU_SFRAME)
            l.object.phdrs[i].p_type = PT_NULL;
    cr_assert(object_tables_open(&t, &l.object, 0));
    cr_expect(eq(int, t.module.eh_frame_status, SFB_NO_EH_FRAME));
    cr_expect(eq(int, t.module.section_status, SFB_NO_SECTION));
    object_tables_close(&t);

    for (size_t i = 0; i < l.object.phdr_count; i++)
        l.object.phdrs[i].p_type = PT_NULL;
    cr_expect_not(object_tables_open(&t, &l.object, 0));
    unload(&l);
}

/* A section of another machine is refused. */
Test(object_tables, refuse_a_section_of_another_machine)
{
    struct loaded l = load(files[0]);
    struct object_tables t;

    l.object.abi = SFB_ABI_AARCH64_LE;
    cr_assert(object_tables_open(&t, &l.object, 0));
    cr_expect(eq(int, t.module.section_status, SFB_BAD_ABI));
    object_tables_close(&t);
    unload(&l);
}
