/* Readers of tables: over the program's own .sframe, and over libc's .eh_frame. */
#include "contract/thunks.h"
#include "unwind/machine/arch.h"

/* --- .sframe ---------------------------------------------------------------------------------- */

static void run_section_open(struct thunk_room *room)
{
    sfb_section_open(&room->section, tables.sframe, tables.sframe_size, (uintptr_t)tables.sframe,
                     &room->error);
    sfb_section_open(&room->section, tables.sframe, 27, (uintptr_t)tables.sframe, &room->error);
}

static void open_section(struct thunk_room *room)
{
    sfb_section_open(&room->section, tables.sframe, tables.sframe_size, (uintptr_t)tables.sframe,
                     &room->error);
}

/* The middle of a function's code, so that it has rows before. */
static uint64_t pc_in(const struct sfb_fde *fde)
{
    return fde->start + fde->size / 2;
}

static void run_fde_read(struct thunk_room *room)
{
    for (uint32_t i = 0; i <= room->section.fde_count; i += room->stride)
        sfb_fde_read(&room->section, i, &room->fde, &room->error);
}

/* pcs are those of functions found by index: by another function, but a smaller one. */
static void run_fde_find(struct thunk_room *room)
{
    for (uint32_t i = 0; i < room->section.fde_count; i += room->stride) {
        struct sfb_fde *fde = &room->fde;

        sfb_fde_read(&room->section, i, fde, NULL);
        sfb_fde_find(&room->section, pc_in(fde), fde, &room->error);
        sfb_fde_find(&room->section, fde->start - 1, fde, &room->error);
    }
}

static void run_fre_read(struct thunk_room *room)
{
    for (uint32_t i = 0; i < room->section.fde_count; i += room->stride) {
        uint32_t position;

        if (sfb_fde_read(&room->section, i, &room->fde, NULL) != SFB_OK)
            continue;
        position = room->fde.fre_offset;
        for (uint32_t k = 0; k < room->fde.fre_count; k++, position += room->fre.size)
            if (sfb_fre_read(&room->section, &room->fde, position, &room->fre, &room->error) !=
                SFB_OK)
                break;
    }
    sfb_fre_read(&room->section, &room->fde, room->section.fre_size, &room->fre, &room->error);
}

static void run_fre_find(struct thunk_room *room)
{
    for (uint32_t i = 0; i < room->section.fde_count; i += room->stride)
        if (sfb_fde_read(&room->section, i, &room->fde, NULL) == SFB_OK)
            sfb_fre_find(&room->section, &room->fde, pc_in(&room->fde), &room->fre, &room->error);
}

static void run_fre_rule(struct thunk_room *room)
{
    for (uint32_t i = 0; i < room->section.fde_count; i += room->stride)
        if (sfb_fde_read(&room->section, i, &room->fde, NULL) == SFB_OK &&
            sfb_fre_read(&room->section, &room->fde, room->fde.fre_offset, &room->fre, NULL) ==
                SFB_OK)
            sfb_fre_rule(&room->section, &room->fde, &room->fre, &room->rule, &room->error);
}

static void run_section_find(struct thunk_room *room)
{
    for (uint32_t i = 0; i < room->section.fde_count; i += room->stride)
        if (sfb_fde_read(&room->section, i, &room->fde, NULL) == SFB_OK)
            sfb_section_find(&room->section, pc_in(&room->fde), &room->rule, &room->error);
    sfb_section_find(&room->section, 1, &room->rule, &room->error);
}

static void run_section_next(struct thunk_room *room)
{
    struct sfb_section unmerged = room->section;

    sfb_section_next(&room->section, &unmerged, &room->error);
    /* As it is where linkers do not merge: the same section again, behind itself. */
    unmerged.size = 0;
    unmerged.rest = tables.sframe_size;
    sfb_section_next(&room->section, &unmerged, &room->error);
}

static void run_section_function(struct thunk_room *room)
{
    uint64_t start;

    for (uint32_t i = 0; i < room->section.fde_count; i += room->stride)
        if (sfb_fde_read(&room->section, i, &room->fde, NULL) == SFB_OK)
            sfb_section_function(&room->section, pc_in(&room->fde), &start);
    sfb_section_function(&room->section, 1, &start);
}

static void run_fre_locations(struct thunk_room *room)
{
    struct sfb_location at[SFB_LOCATION_COUNT];

    room->fre = (struct sfb_fre){ .offset = { 0x3a, 8, 2, -8, 2, -16 },
                                  .offset_count = SFB_FRE_WORDS_MAX,
                                  .word_size = 1 };
    sfb_fre_locations(&room->fre, at);
    room->fre.offset_count = 1;
    sfb_fre_locations(&room->fre, at);
}

/* --- .eh_frame -------------------------------------------------------------------------------- */

static void open_eh_frame(struct thunk_room *room)
{
    sfb_eh_frame_open(&room->eh, tables.text, tables.text_size, (uintptr_t)tables.text, tables.hdr,
                      (enum sfb_abi)SFB_ARCH_ABI, &room->error);
}

static void run_eh_frame_open(struct thunk_room *room)
{
    open_eh_frame(room);
    sfb_eh_frame_open(&room->eh, tables.text, 1, (uintptr_t)tables.text, tables.hdr,
                      (enum sfb_abi)SFB_ARCH_ABI, &room->error);
}

static void run_eh_frame_extend(struct thunk_room *room)
{
    sfb_eh_frame_extend(&room->eh, tables.data, tables.data_size, (uintptr_t)tables.data);
}

static void run_eh_frame_fde(struct thunk_room *room)
{
    for (uint32_t i = 0; i <= room->eh.count; i += room->stride)
        sfb_eh_frame_fde(&room->eh, i, &room->cfi, &room->error);
}

static void run_eh_frame_fde_find(struct thunk_room *room)
{
    for (uint32_t i = 0; i < room->eh.count; i += room->stride) {
        if (sfb_eh_frame_fde(&room->eh, i, &room->cfi, NULL) != SFB_OK)
            continue;
        sfb_eh_frame_fde_find(&room->eh, room->cfi.end - 1, &room->cfi, &room->error);
        sfb_eh_frame_fde_find(&room->eh, room->cfi.end, &room->cfi, &room->error);
    }
}

static void run_eh_frame_find(struct thunk_room *room)
{
    for (uint32_t i = 0; i < room->eh.count; i += room->stride) {
        if (sfb_eh_frame_fde(&room->eh, i, &room->cfi, NULL) != SFB_OK)
            continue;
        for (uint64_t k = 0; k < 4; k++)
            sfb_eh_frame_find(&room->eh,
                              room->cfi.start + (room->cfi.end - 1 - room->cfi.start) * k / 3,
                              &room->rule, &room->error);
    }
}

/* From .eh_frame to the end of its segment: what stands there behind it is no entry. */
static void run_walk_init(struct thunk_room *room)
{
    const uint64_t before = room->eh.frames - room->eh.address;

    sfb_eh_frame_walk_init(&room->walk, room->eh.data + before, room->eh.size - before,
                           room->eh.frames, (enum sfb_abi)SFB_ARCH_ABI);
}

static void open_walk(struct thunk_room *room)
{
    open_eh_frame(room);
    run_walk_init(room);
}

static void run_walk_next(struct thunk_room *room)
{
    for (uint32_t i = 0; i < room->eh.count; i += room->stride)
        sfb_eh_frame_walk_next(&room->walk, &room->cfi, &room->error);
    while (sfb_eh_frame_walk_next(&room->walk, &room->cfi, &room->error) == SFB_OK)
        ;
}

static void run_rows_init(struct thunk_room *room)
{
    for (uint32_t i = 0; i < room->eh.count; i += room->stride)
        if (sfb_eh_frame_fde(&room->eh, i, &room->cfi, NULL) == SFB_OK)
            sfb_cfi_rows_init(&room->rows, &room->eh, &room->cfi, &room->error);
}

static void run_rows_next(struct thunk_room *room)
{
    for (uint32_t i = 0; i < room->eh.count; i += room->stride)
        if (sfb_eh_frame_fde(&room->eh, i, &room->cfi, NULL) == SFB_OK &&
            sfb_cfi_rows_init(&room->rows, &room->eh, &room->cfi, NULL) == SFB_OK)
            while (sfb_cfi_rows_next(&room->rows, &room->error) == SFB_OK)
                ;
}

static void run_rows_rule(struct thunk_room *room)
{
    for (uint32_t i = 0; i < room->eh.count; i += room->stride)
        if (sfb_eh_frame_fde(&room->eh, i, &room->cfi, NULL) == SFB_OK &&
            sfb_cfi_rows_init(&room->rows, &room->eh, &room->cfi, NULL) == SFB_OK)
            while (sfb_cfi_rows_next(&room->rows, NULL) == SFB_OK)
                sfb_cfi_rows_rule(&room->rows, room->rows.start, &room->rule, &room->error);
}

const struct thunk table_thunks[] = {
    { "sfb_section_open", NULL, run_section_open, NULL },
    { "sfb_fde_read", open_section, run_fde_read, NULL },
    { "sfb_fde_find", open_section, run_fde_find, NULL },
    { "sfb_fre_read", open_section, run_fre_read, NULL },
    { "sfb_fre_find", open_section, run_fre_find, NULL },
    { "sfb_fre_rule", open_section, run_fre_rule, NULL },
    { "sfb_section_find", open_section, run_section_find, NULL },
    { "sfb_section_next", open_section, run_section_next, NULL },
    { "sfb_section_function", open_section, run_section_function, NULL },
    { "sfb_fre_locations", NULL, run_fre_locations, NULL },
    { "sfb_eh_frame_open", NULL, run_eh_frame_open, NULL },
    { "sfb_eh_frame_extend", open_eh_frame, run_eh_frame_extend, NULL },
    { "sfb_eh_frame_fde", open_eh_frame, run_eh_frame_fde, NULL },
    { "sfb_eh_frame_fde_find", open_eh_frame, run_eh_frame_fde_find, NULL },
    { "sfb_eh_frame_find", open_eh_frame, run_eh_frame_find, NULL },
    { "sfb_eh_frame_walk_init", open_eh_frame, run_walk_init, NULL },
    { "sfb_eh_frame_walk_next", open_walk, run_walk_next, NULL },
    { "sfb_cfi_rows_init", open_eh_frame, run_rows_init, NULL },
    { "sfb_cfi_rows_next", open_eh_frame, run_rows_next, NULL },
    { "sfb_cfi_rows_rule", open_eh_frame, run_rows_rule, NULL },
    { NULL, NULL, NULL, NULL },
};
