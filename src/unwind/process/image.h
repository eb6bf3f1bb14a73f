/*
 * Describes a module from the program headers of a loaded file. Each pointer is checked: its target
 * must lie in a readable segment, inside of the module.
 */
#ifndef SFB_UNWIND_PROCESS_IMAGE_H
#define SFB_UNWIND_PROCESS_IMAGE_H

#include <elf.h>
#include <link.h>
#include <stdbool.h>

#include "sfb/walk.h"

/* The page of the ELF header: mapped for every module. */
#define SFB_IMAGE_HEADER_PAGE 4096u

/* Place of a module, and the loader's structs for it. Two loads of a library nearly always differ in it. */
struct sfb_module_identity {
    uint64_t start, end;
    const void *link_map;
    const void *eh_frame;
};

/* Input of sfb_module_read(). Everything it points to lies in the module. */
struct sfb_loaded_image {
    struct sfb_module_identity identity;
    const ElfW(Phdr) * phdrs; /* readable as far as phdr_count says */
    unsigned phdr_count;
    uint64_t bias; /* load address - virtual address */
};

/* A GNU build-id; size 0: missing. Build-ids above the linkers' default size are ignored. */
enum { SFB_BUILD_ID_SHA1 = 20 };

struct sfb_build_id {
    const uint8_t *at; /* its address if on the page of the ELF header; else NULL */
    uint8_t size;
    uint8_t bytes[SFB_BUILD_ID_SHA1];
};

/* A loaded module, for reports. */
struct sfb_loaded {
    uint64_t start, end;
    uint64_t text_end; /* behind its last executable byte; without such a byte, end */
    uint64_t bias;     /* pc - bias: the virtual address in the file */
    uint64_t link_map; /* the loader's struct link_map, may be overwritten; 0: unknown */
    struct sfb_build_id build_id;
};

/* Describes a module. Never fails: section_status has the section's fault. */
void sfb_module_read(struct sfb_module *out, const struct sfb_loaded_image *image);

/*
 * @return whether the segments' files are as long as the headers say, at this moment: a file may have
 *         become shorter, or is being rewritten
 *
 * Cost: a system call for each segment.
 */
bool sfb_image_is_whole(const struct sfb_loaded_image *image);

/* @return the first program header of a type; NULL: not found */
const ElfW(Phdr) * sfb_image_phdr(const struct sfb_loaded_image *image, uint32_t type);

/* @return the readable segment with file contents at a virtual address; NULL: not found */
const ElfW(Phdr) * sfb_image_segment(const struct sfb_loaded_image *image, uint64_t vaddr);

/*
 * Opens the .sframe of a module, for sfb_module_read().
 *
 * @return SFB_OK; SFB_NO_SECTION, SFB_BAD_ELF, SFB_BAD_ABI, or as sfb_section_open()
 */
enum sfb_status sfb_image_section(struct sfb_section *out, const struct sfb_loaded_image *image);

/* The two parts of sfb_image_eh_frame(): the segment of its header, then a second one if needed. */
enum sfb_status sfb_image_eh_frame_hdr(struct sfb_eh_frame *out,
                                       const struct sfb_loaded_image *image);
enum sfb_status sfb_image_eh_frame_extend(struct sfb_eh_frame *eh,
                                          const struct sfb_loaded_image *image);

/*
 * Opens its .eh_frame. (Inline: so the two parts are not on the stack at the same time.)
 *
 * @return SFB_OK; SFB_NO_EH_FRAME, SFB_BAD_ELF, or as sfb_eh_frame_open()
 */
static inline enum sfb_status sfb_image_eh_frame(struct sfb_eh_frame *out,
                                                 const struct sfb_loaded_image *image)
{
    enum sfb_status status = sfb_image_eh_frame_hdr(out, image);

    return status == SFB_OK ? sfb_image_eh_frame_extend(out, image) : status;
}

/* @return the address behind its last executable byte; without such a byte, its end */
uint64_t sfb_image_text_end(const struct sfb_loaded_image *image);

/* Reads the build-id that the linker made from the file's contents. */
void sfb_image_build_id(struct sfb_build_id *out, const struct sfb_loaded_image *image);

#endif
