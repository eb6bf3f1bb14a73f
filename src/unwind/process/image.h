/*
 * From the program headers of a loaded file to a module. Nothing is believed: what they point to
 * has to lie in a readable segment, and inside of the module.
 */
#ifndef SFB_UNWIND_PROCESS_IMAGE_H
#define SFB_UNWIND_PROCESS_IMAGE_H

#include <elf.h>
#include <link.h>
#include <stdbool.h>

#include "sfb/walk.h"

/* The ELF header's own page, which is there wherever a module is. */
#define SFB_IMAGE_HEADER_PAGE 4096u

/* Where a module is, and who says so; two loads of a library differ in it, nearly always. */
struct sfb_module_identity {
    uint64_t start, end;
    const void *link_map;
    const void *eh_frame;
};

/* What sfb_module_read() goes by. Everything it points to lies in the module. */
struct sfb_loaded_image {
    struct sfb_module_identity identity;
    const ElfW(Phdr) * phdrs; /* readable as far as phdr_count says */
    unsigned phdr_count;
    uint64_t bias; /* load address less virtual address */
};

/* A GNU build-id; size 0: none. Larger ones than what linkers make by default do not count. */
enum { SFB_BUILD_ID_SHA1 = 20 };

struct sfb_build_id {
    const uint8_t *at; /* where it lies, if that is on the page of the ELF header; else NULL */
    uint8_t size;
    uint8_t bytes[SFB_BUILD_ID_SHA1];
};

/* What is loaded at an address: for those who report it. */
struct sfb_loaded {
    uint64_t start, end;
    uint64_t text_end; /* behind its last executable byte; end, if it has none */
    uint64_t bias;     /* pc - bias: the address as the file has it */
    uint64_t link_map; /* the loader's struct link_map, not to be believed; 0: none */
    struct sfb_build_id build_id;
};

/* Describes a module. Never fails: what is wrong with its section stands in section_status. */
void sfb_module_read(struct sfb_module *out, const struct sfb_loaded_image *image);

/*
 * @return whether the files that its segments are of are as long as the headers say, at this moment:
 *         a file may be shorter, or be written anew just now
 *
 * Cost: a system call for each segment.
 */
bool sfb_image_is_whole(const struct sfb_loaded_image *image);

/* @return the first program header of a type, NULL if there is none */
const ElfW(Phdr) * sfb_image_phdr(const struct sfb_loaded_image *image, uint32_t type);

/* @return the readable segment with file contents at a virtual address, NULL if there is none */
const ElfW(Phdr) * sfb_image_segment(const struct sfb_loaded_image *image, uint64_t vaddr);

/*
 * Opens the .sframe of a module: what sfb_module_read() puts into it.
 *
 * @return SFB_OK; SFB_NO_SECTION, SFB_BAD_ELF, SFB_BAD_ABI, or as sfb_section_open() says
 */
enum sfb_status sfb_image_section(struct sfb_section *out, const struct sfb_loaded_image *image);

/* The two parts of sfb_image_eh_frame(): the segment of its header, and a second one if need be. */
enum sfb_status sfb_image_eh_frame_hdr(struct sfb_eh_frame *out,
                                       const struct sfb_loaded_image *image);
enum sfb_status sfb_image_eh_frame_extend(struct sfb_eh_frame *eh,
                                          const struct sfb_loaded_image *image);

/*
 * The same of its .eh_frame. (Inline: the parts are not on the stack at the same time.)
 *
 * @return SFB_OK; SFB_NO_EH_FRAME, SFB_BAD_ELF, or as sfb_eh_frame_open() says
 */
static inline enum sfb_status sfb_image_eh_frame(struct sfb_eh_frame *out,
                                                 const struct sfb_loaded_image *image)
{
    enum sfb_status status = sfb_image_eh_frame_hdr(out, image);

    return status == SFB_OK ? sfb_image_eh_frame_extend(out, image) : status;
}

/* @return the address behind its last executable byte; where it ends, if it has none */
uint64_t sfb_image_text_end(const struct sfb_loaded_image *image);

/* Reads the build-id that the linker made from the file's contents. */
void sfb_image_build_id(struct sfb_build_id *out, const struct sfb_loaded_image *image);

#endif
