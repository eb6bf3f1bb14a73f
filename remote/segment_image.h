/*
 * The image of an ELF file from the memory of a process that has it mapped: for files that are gone. It
 * has the loaded segments where the file has them, and no section headers.
 */
#ifndef REMOTE_SEGMENT_IMAGE_H
#define REMOTE_SEGMENT_IMAGE_H

#include <stddef.h>
#include <stdint.h>

enum { REMOTE_IMAGE_MOST = 256 << 20 }; /* of any file */

/* Memory of that process. */
struct remote_reader {
    size_t (*read)(void *user, uint64_t address, void *out,
                   size_t size); /* bytes, from the first on */
    void *user;
};

/*
 * @param start  where its first byte is mapped
 * @param most   bytes of the image
 *
 * @return the image, for free(); NULL: no ELF file of this machine's class there, or larger
 */
void *remote_segment_image(const struct remote_reader *memory, uint64_t start, size_t most,
                           size_t *size);

#endif
