#include "recorder/live_sum.h"

#define LN2 0.6931471805599453

/* exp(-x), x >= 0, without libm: 2^-k e^-r, r below ln 2. To 1e-15. */
static double exp_minus(double x)
{
    double scale = 1, term, sum;
    int halves;

    if (x > 700)
        return 0;
    halves = (int)(x / LN2);
    x -= halves * LN2;
    while (halves-- > 0)
        scale /= 2;
    term = sum = 1;
    for (int i = 1; i < 18; i++) {
        term *= -x / i;
        sum += term;
    }
    return scale * sum;
}

double sfb_live_probability(uint64_t size, uint32_t level)
{
    double x;

    if (level == 0)
        return 1;
    x = ((double)size + 1) / (double)SFB_LIVE_RATE(level);
    if (x < 1e-3) /* 1 - exp(-x) has lost its digits there */
        return x * (1 - x / 2 * (1 - x / 3 * (1 - x / 4)));
    return 1 - exp_minus(x);
}

uint64_t sfb_live_count(double value)
{
    if (!(value > 0))
        return 0;
    return value < 9.2e18 ? (uint64_t)(value + 0.5) : UINT64_MAX;
}

/* ln of 1 / u: the exponent of u, and a series for its fraction. */
double sfb_live_gap(uint64_t random)
{
    double u = ((double)(random >> 11) + 1) / 9007199254740992.0, gap = 0, y, square, power, sum;

    while (u < 0.5) {
        u *= 2;
        gap += LN2;
    }
    y = (1 - u) / (1 + u); /* ln(1 / u) = 2 atanh(y), y in [0, 1/3] */
    square = y * y;
    power = y;
    sum = 0;
    for (int i = 1; i < 34; i += 2) {
        sum += power / i;
        power *= square;
    }
    return gap + 2 * sum;
}

static void add(struct sfb_live_amount *to, const struct sfb_live_amount *amount)
{
    to->blocks += amount->blocks;
    to->bytes += amount->bytes;
    to->blocks_variance += amount->blocks_variance;
    to->bytes_variance += amount->bytes_variance;
    to->samples++;
}

void sfb_live_sum_add(struct sfb_live_sum *sum, struct sfb_live_slot slot)
{
    const uint64_t size = sfb_live_size_of(slot.what);
    const uint32_t stack = sfb_live_stack_of(slot.what), level = sfb_live_level_of(slot.what);
    struct sfb_live_amount amount = { 1, (double)size, 0, 0, 1, 0 };

    if (stack >= sum->units) {
        sum->bad++;
        return;
    }
    if (level > 0) {
        const double p = sfb_live_probability(size, level);

        amount.blocks = 1 / p;
        amount.bytes = (double)size / p;
        amount.blocks_variance = (1 - p) / (p * p);
        amount.bytes_variance = (double)size * (double)size * (1 - p) / (p * p);
    }
    add(&sum->of[stack], &amount);
    add(&sum->all, &amount);
}

void sfb_live_sum_slots(struct sfb_live_sum *sum, const struct sfb_live_slot *slots, uint32_t count)
{
    for (uint32_t i = 0; i < count; i++) {
        struct sfb_live_slot slot = { .block = __atomic_load_n(&slots[i].block, __ATOMIC_ACQUIRE) };

        if (!sfb_live_is_block(slot.block))
            continue;
        slot.what = __atomic_load_n(&slots[i].what, __ATOMIC_ACQUIRE);
        if (__atomic_load_n(&slots[i].block, __ATOMIC_RELAXED) == slot.block)
            sfb_live_sum_add(sum, slot);
        else
            sum->changed++;
    }
}
