/* CRC-32C (Castagnoli), as iSCSI has it: RFC 3720, B.4. */
#ifndef SFB_RECORDING_CRC32C_H
#define SFB_RECORDING_CRC32C_H

#include <stddef.h>
#include <stdint.h>

/* @param crc  of the bytes before these; 0: there are none */
uint32_t sfb_crc32c(uint32_t crc, const void *bytes, size_t size);

#endif
