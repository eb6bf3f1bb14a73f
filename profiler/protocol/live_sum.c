#include "profiler/protocol/live_sum.h"

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

static void add(struct sfb_live_amount *to, const struct sfb_live_amount *amount)
{
    to->blocks += amount->blocks;
    to->bytes += amount->bytes;
    to->blocks_variance += amount->blocks_variance;
    to->bytes_variance += amount->bytes_variance;
    to->samples += amount->samples;
}

void sfb_live_sum_begin(struct sfb_live_sum *sum, const struct sfb_live_stack *stacks,
                        uint32_t count)
{
    for (uint32_t i = 0; i < count; i++)
        sum->of[i].before =
            sfb_live_generation(__atomic_load_n(&stacks[i].state, __ATOMIC_ACQUIRE));
}

void sfb_live_sum_forget(struct sfb_live_sum *sum, uint32_t stack)
{
    struct sfb_live_amount *of = &sum->of[stack];

    sum->changed += of->samples;
    *of = (struct sfb_live_amount){ .before = of->before };
}

void sfb_live_sum_clear(struct sfb_live_sum *sum)
{
    for (uint32_t i = 0; i < sum->stacks; i++)
        sum->of[i] = (struct sfb_live_amount){ .before = sum->of[i].before };
    sum->all = (struct sfb_live_amount){ 0 };
    sum->changed = sum->bad = 0;
}

bool sfb_live_sum_is_of(const struct sfb_live_amount *amount, uint32_t state)
{
    const uint32_t generation = sfb_live_generation(state);

    return sfb_live_phase(state) != SFB_LIVE_NO_STACK &&
           generation % SFB_LIVE_GENERATIONS == amount->generation &&
           generation - amount->before < SFB_LIVE_GENERATIONS;
}

void sfb_live_sum_end(struct sfb_live_sum *sum, uint32_t count)
{
    for (uint32_t i = 0; i < count && i < sum->stacks; i++)
        if (sum->of[i].samples > 0)
            add(&sum->all, &sum->of[i]);
}

static void subtract(struct sfb_live_amount *from, const struct sfb_live_amount *amount)
{
    if (from->samples == 0)
        return; /* the slot was reused meanwhile */
    from->blocks -= amount->blocks;
    from->bytes -= amount->bytes;
    from->blocks_variance -= amount->blocks_variance;
    from->bytes_variance -= amount->bytes_variance;
    from->samples--;
}

/* What the block of a slot stands for. */
static struct sfb_live_amount amount_of(struct sfb_live_slot slot)
{
    const uint64_t size = sfb_live_size_of(slot.what);
    const uint32_t level = sfb_live_level_of(slot.what);
    struct sfb_live_amount amount = { .blocks = 1, .bytes = (double)size, .samples = 1 };

    if (level > 0) {
        const double p = sfb_live_probability(size, level);

        amount.blocks = 1 / p;
        amount.bytes = (double)size / p;
        amount.blocks_variance = (1 - p) / (p * p);
        amount.bytes_variance = (double)size * (double)size * (1 - p) / (p * p);
    }
    return amount;
}

void sfb_live_sum_add(struct sfb_live_sum *sum, struct sfb_live_slot slot)
{
    const uint32_t stack = sfb_live_stack_of(slot.what),
                   generation = sfb_live_generation_of(slot.what);
    const struct sfb_live_amount amount = amount_of(slot);

    if (stack >= sum->stacks) {
        sum->bad++;
        return;
    }
    if (sum->of[stack].generation != generation && sum->of[stack].samples > 0)
        sfb_live_sum_forget(sum, stack);
    sum->of[stack].generation = generation;
    add(&sum->of[stack], &amount);
}

void sfb_live_sum_untailed(struct sfb_live_sum *sum, struct sfb_live_slot slot, bool bypassed)
{
    const uint32_t stack = sfb_live_stack_of(slot.what);
    const struct sfb_live_amount amount = amount_of(slot);

    if (stack >= sum->stacks || sum->of[stack].generation != sfb_live_generation_of(slot.what))
        return;
    if (!bypassed) {
        sum->of[stack].overruns++;
        return;
    }
    subtract(&sum->of[stack], &amount);
    subtract(&sum->all, &amount);
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
