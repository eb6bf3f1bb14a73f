#include "record/machine.h"

#include <stddef.h>

const enum sfb_abi sfb_machine_abi = SFB_ABI_AARCH64_LE;

/* Nothing there says whose it is. */
bool sfb_machine_is_libc_thread(void)
{
    return __builtin_thread_pointer() != NULL;
}
