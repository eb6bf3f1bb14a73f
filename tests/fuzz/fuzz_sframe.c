/*
 * Any bytes as a section: nothing may be read outside of them, and what is found must be true.
 *
 * Input: the address of the section, 8 bytes, and the section. pcs to look up are drawn from the
 * same bytes, so that the fuzzer can steer them, and from the entries that were read.
 */
#include <string.h>

#include "fuzz.h"
#include "sfb/section.h"

enum { ENTRIES = 256, ROWS = 256, HEADERS = 8 };

static bool same_rule(const struct sfb_rule *a, const struct sfb_rule *b)
{
    return memcmp(a, b, sizeof *a) == 0;
}

/*
 * One call and three calls agree, and the function that was found covers the pc. (The one call
 * looks into further headers, too, where this one has no answer.)
 */
static void look_up(const struct sfb_section *s, uint64_t pc)
{
    struct sfb_rule rule, again;
    struct sfb_error error;
    struct sfb_fde fde;
    struct sfb_fre fre;
    const enum sfb_status status = sfb_section_find(s, pc, &rule, NULL);
    enum sfb_status step = sfb_fde_find(s, pc, &fde, NULL);
    uint64_t start;

    FUZZ_CHECK(sfb_section_find(s, pc, &again, &error) == status);
    if (status != SFB_OK)
        FUZZ_CHECK(error.status == status && error.field != NULL &&
                   error.offset <= s->size + s->rest);
    if (sfb_section_function(s, pc, &start) == SFB_OK)
        FUZZ_CHECK(step != SFB_OK || start == fde.start);
    else
        FUZZ_CHECK(step != SFB_OK);
    if (step == SFB_NO_FDE && s->rest != 0)
        return;
    if (step == SFB_OK) {
        FUZZ_CHECK(pc - fde.start < fde.size && fde.index < s->fde_count);
        FUZZ_CHECK(fde.type != SFB_FDE_PCMASK || fde.repeat_size != 0);
        step = sfb_fre_find(s, &fde, pc, &fre, NULL);
    }
    if (step == SFB_OK) {
        FUZZ_CHECK(fre.start <= pc - fde.start);
        FUZZ_CHECK((uint64_t)fre.position + fre.size <= s->fre_size);
        step = sfb_fre_rule(s, &fde, &fre, &again, NULL);
    }
    FUZZ_CHECK(step == status);
    if (status == SFB_OK)
        FUZZ_CHECK(same_rule(&rule, &again));
    if (status == SFB_OK && s->version == 1)
        FUZZ_CHECK((rule.flags & (SFB_RULE_ANY_REGISTER | SFB_RULE_SIGNAL | SFB_RULE_OUTERMOST)) ==
                   0);
}

/* What the words of a row are taken for: all of them, none twice. */
static void take_apart(const struct sfb_fre *fre)
{
    struct sfb_location at[SFB_LOCATION_COUNT];
    unsigned words = 0;

    if (sfb_fre_locations(fre, at) != SFB_OK)
        return;
    for (unsigned i = 0; i < SFB_LOCATION_COUNT; i++)
        words += at[i].how;
    FUZZ_CHECK(words == fre->offset_count);
}

static void read_rows(const struct sfb_section *s, const struct sfb_fde *fde)
{
    uint32_t position = fde->fre_offset;

    for (uint32_t k = 0; k < fde->fre_count && k < ROWS; k++) {
        struct sfb_fre fre;
        struct sfb_rule rule;

        if (sfb_fre_read(s, fde, position, &fre, NULL) != SFB_OK)
            return;
        FUZZ_CHECK(fre.position == position && fre.size >= (s->version == 1 ? 3 : 2));
        if (fde->flexible)
            take_apart(&fre);
        FUZZ_CHECK((uint64_t)position + fre.size <= s->fre_size);
        sfb_fre_rule(s, fde, &fre, &rule, NULL);
        look_up(s, fde->start + fre.start);
        position += fre.size;
    }
}

static void read_entries(const struct sfb_section *s)
{
    for (uint32_t i = 0; i < s->fde_count && i < ENTRIES; i++) {
        struct sfb_fde fde;

        if (sfb_fde_read(s, i, &fde, NULL) != SFB_OK)
            continue;
        look_up(s, fde.start - 1);
        look_up(s, fde.start + fde.size - 1);
        look_up(s, fde.start + fde.size);
        read_rows(s, &fde);
    }
}

/* As the starts of entries are read, of either width. */
static void look_up_words(const struct sfb_section *s)
{
    for (size_t at = 0; at + sizeof(uint64_t) <= s->size && at < 4096; at += sizeof(uint32_t)) {
        int64_t wide;
        int32_t place;

        memcpy(&place, s->data + at, sizeof place);
        memcpy(&wide, s->data + at, sizeof wide);
        if (s->swap) {
            place = (int32_t)__builtin_bswap32((uint32_t)place);
            wide = (int64_t)__builtin_bswap64((uint64_t)wide);
        }
        look_up(s, s->address + (uint64_t)place + (s->field_relative ? at : 0));
        if (s->version == 3)
            look_up(s, s->address + (uint64_t)wide + (s->field_relative ? at : 0));
    }
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    struct sfb_section s;
    struct sfb_error error = { SFB_OK, NULL, 0 };
    uint64_t address;
    enum sfb_status status;

    if (size < sizeof address)
        return 0;
    memcpy(&address, data, sizeof address);
    data += sizeof address;
    size -= sizeof address;

    status = sfb_section_open(&s, data, size, address, &error);
    FUZZ_CHECK(status == error.status);
    for (int i = 0; status == SFB_OK && i < HEADERS; i++) {
        FUZZ_CHECK(s.data >= data && s.size + s.rest <= size - (size_t)(s.data - data));
        FUZZ_CHECK((uint64_t)s.fre_offset + s.fre_size == s.size);
        FUZZ_CHECK(s.address - address == (uint64_t)(s.data - data));
        read_entries(&s);
        look_up_words(&s);
        status = sfb_section_next(&s, &s, &error);
        FUZZ_CHECK(status == SFB_OK || error.status == status);
    }
    if (status != SFB_OK)
        FUZZ_CHECK(error.field != NULL && error.offset <= size);
    return 0;
}
