#include "cli/check/disassembly.h"

#include <capstone/capstone.h>
#include <inttypes.h>
#include <stdio.h>

#include <sfb/abi.h>

static void print_line(uint64_t address, const uint8_t *bytes, size_t size, const char *name,
                       const char *operands)
{
    printf("  0x%" PRIx64 ":", address);
    for (size_t i = 0; i < size; i++)
        printf(" %02x", bytes[i]);
    for (size_t i = size; i < 11; i++)
        printf("   ");
    printf(" %s %s\n", name, operands);
}

bool disassembly_print(const uint8_t *code, size_t size, uint64_t address, uint8_t abi)
{
    const cs_arch arch = abi == SFB_ABI_AMD64_LE ? CS_ARCH_X86 : CS_ARCH_ARM64;
    /* AArch64 code is little endian in files of either byte order. */
    const cs_mode mode = abi == SFB_ABI_AMD64_LE ? CS_MODE_64 : CS_MODE_LITTLE_ENDIAN;
    csh handle;
    cs_insn *insn;

    if (abi < SFB_ABI_AARCH64_BE || abi > SFB_ABI_AMD64_LE ||
        cs_open(arch, mode, &handle) != CS_ERR_OK)
        return false;
    insn = cs_malloc(handle);
    while (insn && size > 0) {
        if (cs_disasm_iter(handle, &code, &size, &address, insn)) {
            print_line(insn->address, insn->bytes, insn->size, insn->mnemonic, insn->op_str);
        } else {
            print_line(address++, code++, 1, "(no instruction)", "");
            size--;
        }
    }
    if (insn)
        cs_free(insn, 1);
    cs_close(&handle);
    return true;
}
