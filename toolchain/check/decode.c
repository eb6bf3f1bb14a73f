#include "toolchain/check/decode.h"

#include <stdlib.h>

#include <sfb/abi.h>

#include "toolchain/check/bytes.h"

bool decoder_built(void)
{
    return true;
}

struct decoder *decoder_open(uint8_t abi)
{
    const cs_arch arch = abi == SFB_ABI_AMD64_LE ? CS_ARCH_X86 : CS_ARCH_ARM64;
    const cs_mode mode = abi == SFB_ABI_AMD64_LE ? CS_MODE_64 : CS_MODE_LITTLE_ENDIAN;
    struct decoder *d;

    if (abi < SFB_ABI_AARCH64_BE || abi > SFB_ABI_AMD64_LE)
        return NULL;
    d = calloc(1, sizeof *d);
    if (!d)
        return NULL;
    d->abi = abi;
    if (cs_open(arch, mode, &d->handle) != CS_ERR_OK) {
        free(d);
        return NULL;
    }
    cs_option(d->handle, CS_OPT_DETAIL, CS_OPT_ON);
    d->insn = cs_malloc(d->handle);
    if (d->insn)
        return d;
    decoder_close(d);
    return NULL;
}

void decoder_close(struct decoder *d)
{
    if (!d)
        return;
    if (d->insn)
        cs_free(d->insn, 1);
    cs_close(&d->handle);
    free(d);
}

bool decoder_read(struct decoder *d, struct insn *out, const uint8_t *code, size_t size,
                  uint64_t address)
{
    const uint8_t *at = code;
    uint64_t next = address;

    *out = (struct insn){ .address = address,
                          .size = 4,
                          .reg = { INSN_NO_REGISTER, INSN_NO_REGISTER },
                          .base = INSN_NO_REGISTER };
    if (d->abi == SFB_ABI_AMD64_LE) {
        if (!cs_disasm_iter(d->handle, &at, &size, &next, d->insn))
            return false;
        out->size = (uint8_t)d->insn->size;
        decode_amd64(d, out);
    } else {
        /* Code is little endian in files of either byte order. */
        const uint32_t word = size < 4 ? 0 : (uint32_t)bytes_load(code, 4, false);

        if (size < 4)
            return false;
        if (decode_aarch64_word(out, word))
            return true;
        if (cs_disasm_iter(d->handle, &at, &size, &next, d->insn))
            decode_aarch64(d, out);
        else
            decode_aarch64_unknown(out, word);
    }
    return true;
}
