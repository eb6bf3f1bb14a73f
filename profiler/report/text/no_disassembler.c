#include "profiler/report/text/disassembler.h"

struct report_disassembler *report_disassembler_open(uint16_t machine)
{
    (void)machine;
    return NULL;
}

size_t report_disassembler_next(struct report_disassembler *d, const uint8_t *bytes, size_t size,
                                uint64_t address, char *text, size_t text_size)
{
    (void)d, (void)bytes, (void)size, (void)address, (void)text, (void)text_size;
    return 0;
}

void report_disassembler_close(struct report_disassembler *d)
{
    (void)d;
}
