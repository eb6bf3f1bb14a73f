/*
 * Which programs of .eh_frame readers can follow.
 *
 * The library's reader keeps a few registers and states, whatever a program names. Others do not:
 * libdw makes room for as many registers as the largest number, 16 bytes each, and for as many again
 * with each state that is remembered, so that a number of 2^27 in a file of 1 KiB is 2 GiB. No machine
 * has more than a few hundred registers, and no compiler remembers more than a few states.
 */
#ifndef CHECK_CFI_BOUNDS_H
#define CHECK_CFI_BOUNDS_H

#include <stddef.h>
#include <stdint.h>

enum { CFI_REGISTER_MAX = 1023, CFI_STATES_MAX = 256 };

/*
 * Goes through the instructions of a CIE or an FDE, up to the first that is not known.
 *
 * @param width  bytes of an encoded address
 * @return NULL, or why a program is not to be followed: too large, or cut off
 */
const char *cfi_program_refused(const uint8_t *at, const uint8_t *end, size_t width);

#endif
