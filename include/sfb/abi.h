/**
 * Machines whose tables are read, on any host. The numbers are those of SFrame's header, "1.2.1
 * SFrame ABI/arch identifier".
 */
#ifndef SFB_ABI_H
#define SFB_ABI_H

enum sfb_abi { SFB_ABI_AARCH64_BE = 1, SFB_ABI_AARCH64_LE = 2, SFB_ABI_AMD64_LE = 3 };

#endif
