#include "record/machine.h"

#include <stdint.h>

const enum sfb_abi sfb_machine_abi = SFB_ABI_AMD64_LE;

/* By the ABI the first word leads to itself; the C library has the same in the third. */
bool sfb_machine_is_libc_thread(void)
{
    uintptr_t first, third;

    __asm__ volatile("movq %%fs:0, %0\n\tmovq %%fs:16, %1" : "=r"(first), "=r"(third));
    return first != 0 && first == third;
}
