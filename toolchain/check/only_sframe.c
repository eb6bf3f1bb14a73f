#include "toolchain/check/only_sframe.h"
#include "util/counted.h"

#include <inttypes.h>

/*
 * Functions that .sframe alone has are missing in .eh_frame, no wrong starts, if they are MANY, or half of all and at
 * least LEAST.
 */
enum { LEAST = 2, MANY = 8 };

/* Whether .eh_frame has any code in [start, end). */
static bool has_cfi(const struct cfi *cfi, uint64_t start, uint64_t end)
{
    size_t low = 0, high = cfi->count;

    while (low < high) {
        const size_t middle = low + (high - low) / 2;

        if (cfi->functions[middle].start < end)
            low = middle + 1;
        else
            high = middle;
    }
    /* Earlier entries overlap in damaged files alone: their functions are not reported. */
    for (size_t i = low; i > 0 && low - i < MANY; i--)
        if (cfi->functions[i - 1].end > start)
            return true;
    return false;
}

static bool is_one(const struct cfi *cfi, const struct stretch *s)
{
    const struct sframe_entry *e = s->function.entry;

    return e->row_count > 0 && !has_cfi(cfi, e->start, e->start + e->size);
}

bool only_sframe_at(const struct asker *asker, const struct cfi *cfi, uint64_t pc)
{
    const struct stretches *s = &asker->stretches;

    return asker->next < s->count && s->list[asker->next].start <= pc &&
           is_one(cfi, &s->list[asker->next]);
}

void only_sframe_say(struct only_sframe *out, struct check *c, const struct asker *asker,
                     const struct cfi *cfi)
{
    const struct stretches *s = &asker->stretches;
    const struct stretch *first = NULL;
    uint64_t count = 0, bytes = 0;

    for (size_t i = 0; i < s->count; i++)
        if (is_one(cfi, &s->list[i])) {
            first = first ? first : &s->list[i];
            count++;
            bytes += s->list[i].end - s->list[i].start;
        }
    out->many = count >= MANY || (count >= LEAST && count * 2 >= s->count);
    if (!out->many)
        return;
    findings_add(c->findings, CODE_CAUSE_NO_CFI,
                 place_of_entry(first->function.part, first->function.entry, FIELD_START),
                 "%s of %zu, %s", counted(count, "functions").text, s->count,
                 counted(bytes, "bytes").text);
    c->findings->explained[check_code_index(CODE_NO_CFI_HERE)] += count;
}
