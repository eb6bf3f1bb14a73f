#include "eh_frame/pointer.h"

#include "base/leb128.h"
#include "eh_frame/format.h"
#include "eh_frame/window.h"

bool sfb_eh_pointer(const struct sfb_eh_frame *eh, struct sfb_reader *r, uint8_t encoding,
                    uint64_t *out)
{
    uint64_t place = eh->address + sfb_eh_offset(eh, r), value;

    if (encoding == EH_ALIGNED) {
        sfb_reader_skip(r, -place % sizeof(uint64_t));
        encoding = EH_ABSPTR;
    }
    switch (encoding & EH_FORMAT) {
    case EH_ABSPTR:
    case EH_UDATA8:
    case EH_SDATA8: value = sfb_reader_u64(r); break;
    case EH_ULEB128: value = sfb_reader_uleb(r); break;
    case EH_UDATA2: value = sfb_reader_u16(r); break;
    case EH_UDATA4: value = sfb_reader_u32(r); break;
    case EH_SLEB128: value = (uint64_t)sfb_reader_sleb(r); break;
    case EH_SDATA2: value = (uint64_t)(int64_t)(int16_t)sfb_reader_u16(r); break;
    case EH_SDATA4: value = (uint64_t)(int64_t)(int32_t)sfb_reader_u32(r); break;
    default: return false;
    }
    if (value != 0) { /* libgcc: zero means "missing", whatever the base */
        switch (encoding & (EH_APPLICATION | EH_INDIRECT)) {
        case 0: break;
        case EH_PCREL: value += place; break;
        case EH_DATAREL: value += eh->address + eh->hdr; break;
        default: return false;
        }
    }
    *out = value;
    return !r->failed;
}
