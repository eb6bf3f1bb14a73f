/* CRC-32C (Castagnoli), as in iSCSI: RFC 3720, B.4. */
#ifndef PROFILER_FORMAT_CRC32C_H
#define PROFILER_FORMAT_CRC32C_H

#include <stddef.h>
#include <stdint.h>

/* @param crc  of the preceding bytes; 0: none precede */
uint32_t sfb_crc32c(uint32_t crc, const void *bytes, size_t size);

#endif
