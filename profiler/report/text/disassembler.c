#include "profiler/report/text/disassembler.h"

#include <capstone/capstone.h>
#include <elf.h>
#include <stdio.h>
#include <stdlib.h>

struct report_disassembler {
    csh handle;
    cs_insn *instruction;
    size_t smallest; /* bytes that are passed over where none begins */
};

struct report_disassembler *report_disassembler_open(uint16_t machine)
{
    const bool amd64 = machine == EM_X86_64;
    struct report_disassembler *d;

    if (!amd64 && machine != EM_AARCH64)
        return NULL;
    d = calloc(1, sizeof *d);
    if (!d)
        return NULL;
    if (cs_open(amd64 ? CS_ARCH_X86 : CS_ARCH_ARM64, amd64 ? CS_MODE_64 : CS_MODE_LITTLE_ENDIAN,
                &d->handle) != CS_ERR_OK) {
        free(d);
        return NULL;
    }
    d->smallest = amd64 ? 1 : 4;
    d->instruction = cs_malloc(d->handle);
    if (!d->instruction) {
        report_disassembler_close(d);
        return NULL;
    }
    return d;
}

size_t report_disassembler_next(struct report_disassembler *d, const uint8_t *bytes, size_t size,
                                uint64_t address, char *text, size_t text_size)
{
    size_t left = size;

    if (size < d->smallest)
        return 0;
    if (cs_disasm_iter(d->handle, &bytes, &left, &address, d->instruction)) {
        snprintf(text, text_size, "%s%s%s", d->instruction->mnemonic,
                 d->instruction->op_str[0] ? " " : "", d->instruction->op_str);
        return d->instruction->size;
    }
    snprintf(text, text_size, "(bad)");
    return d->smallest;
}

void report_disassembler_close(struct report_disassembler *d)
{
    if (!d)
        return;
    if (d->instruction)
        cs_free(d->instruction, 1);
    cs_close(&d->handle);
    free(d);
}
