/*
 * Rejects CFI programs that other readers cannot afford.
 *
 * The library's reader keeps a fixed set of registers and states. libdw allocates 16 bytes for each
 * register up to the largest number, and as many again for each remembered state: number 2^27 in a
 * file of 1 KiB costs 2 GiB. Real machines have a few hundred registers, and compilers remember a
 * few states.
 */
#ifndef TOOLCHAIN_CHECK_CFI_BOUNDS_H
#define TOOLCHAIN_CHECK_CFI_BOUNDS_H

#include <stddef.h>
#include <stdint.h>

enum { CFI_REGISTER_MAX = 1023, CFI_STATES_MAX = 256 };

/*
 * Checks the instructions of a CIE or an FDE, up to the first unknown one.
 *
 * @param width  bytes of an encoded address
 * @return NULL, or why a program is refused: too large, or cut off
 */
const char *cfi_program_refused(const uint8_t *at, const uint8_t *end, size_t width);

#endif
