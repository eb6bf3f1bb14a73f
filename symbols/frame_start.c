#include "symbols/frame_start.h"

static void open_tables(struct object_frame_starts *s, Elf *elf)
{
    struct object_fault fault;
    size_t size;
    char *image = elf_rawfile(elf, &size);

    s->asked = true;
    if (!image || !object_open(&s->object, &fault, (uint8_t *)image, size))
        return;
    s->good = object_eh_frame_open(&s->tables, &fault, &s->object);
    if (!s->good)
        object_close(&s->object);
}

uint64_t object_frame_start(struct object_frame_starts *s, Elf *elf, uint64_t address)
{
    struct sfb_cfi_fde fde;

    if (!s->asked)
        open_tables(s, elf);
    return s->good && sfb_eh_frame_fde_find(&s->tables.eh, address, &fde, NULL) == SFB_OK
               ? fde.start
               : 0;
}

void object_frame_starts_close(struct object_frame_starts *s)
{
    if (s->good) {
        object_eh_frame_close(&s->tables);
        object_close(&s->object);
    }
    s->asked = s->good = false;
}
