/* Modules that a walk has found to be still mapped. Each one is checked once a walk. */
#ifndef SFB_UNWIND_CAPTURE_SEEN_MODULES_H
#define SFB_UNWIND_CAPTURE_SEEN_MODULES_H

#include <stdbool.h>
#include <stdint.h>

/* So many are remembered: stacks that go through more of them ask anew. */
enum { SFB_SEEN_MODULES = 16 };

struct sfb_seen_modules {
    bool doubt;                   /* ask the kernel of each module, too */
    uint8_t id[SFB_SEEN_MODULES]; /* the high bits of an id, plus 1, at the place of its low bits */
};

/* @return whether a module that could be unloaded was found by this walk before */
static inline bool sfb_seen_modules_has(const struct sfb_seen_modules *s, uint32_t id)
{
    return s->id[id % SFB_SEEN_MODULES] == id / SFB_SEEN_MODULES + 1;
}

static inline void sfb_seen_modules_add(struct sfb_seen_modules *s, uint32_t id)
{
    s->id[id % SFB_SEEN_MODULES] = (uint8_t)(id / SFB_SEEN_MODULES + 1);
}

#endif
