/* Unstable: may change in any release. Its functions are in the static library only. */
/**
 * ABI: machine and byte order that tables are for, on any host. The numbers are SFrame's.
 * Source: SFrame v1 specification, "1.2.1 SFrame ABI/arch identifier".
 */
#ifndef SFB_ABI_H
#define SFB_ABI_H

enum sfb_abi { SFB_ABI_AARCH64_BE = 1, SFB_ABI_AARCH64_LE = 2, SFB_ABI_AMD64_LE = 3 };

#endif
