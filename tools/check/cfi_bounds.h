/*
 * Which programs of .eh_frame libdw may follow.
 *
 * libdw makes room for as many registers as the largest number that a program names, 16 bytes each,
 * and for as many again with each state that is remembered: a number of 2^27 in a file of 1 KB is
 * 2 GB. No machine has more than a few hundred registers, and no compiler remembers more than a few
 * states.
 */
#ifndef CHECK_CFI_BOUNDS_H
#define CHECK_CFI_BOUNDS_H

#include <stddef.h>
#include <stdint.h>

enum { CFI_REGISTER_MAX = 1023, CFI_STATES_MAX = 256 };

/*
 * Goes through the instructions of a CIE or an FDE, as far as libdw would at most.
 *
 * @param width  bytes of an encoded address
 * @return NULL, or why libdw must not have it: too large, or not understood
 */
const char *cfi_program_refused(const uint8_t *at, const uint8_t *end, size_t width);

#endif
