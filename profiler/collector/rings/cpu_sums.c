#include "profiler/collector/rings/cpu_sums.h"

#include <inttypes.h>
#include <stdbool.h>
#include <stdio.h>
#include <string.h>

#include "util/base_name.h"

enum { NAMED_MAX = 3, MS = 1000000 };

void sfb_recorder_programs_add(struct sfb_recorder_programs *programs, const char *program,
                               uint64_t cpu_ns)
{
    const char *name = sfb_base_name(program);

    for (size_t i = 0; i < SFB_RECORDER_PROGRAMS && *name; i++) {
        const size_t most = sizeof programs->of[i].name - 1;

        if (programs->of[i].name[0] == '\0')
            memcpy(programs->of[i].name, name, strnlen(name, most));
        else if (strncmp(programs->of[i].name, name, most) != 0)
            continue;
        programs->of[i].cpu_ns += cpu_ns;
        return;
    }
}

uint64_t sfb_recorder_programs_sum(const struct sfb_recorder_programs *programs)
{
    uint64_t sum = 0;

    for (size_t i = 0; i < SFB_RECORDER_PROGRAMS; i++)
        sum += programs->of[i].cpu_ns;
    return sum;
}

size_t sfb_recorder_programs_put(char *out, size_t room, const char *what,
                                 const struct sfb_recorder_programs *programs)
{
    bool named[SFB_RECORDER_PROGRAMS] = { false };
    const char *before = what;
    size_t size = 0;

    for (size_t n = 0; n < NAMED_MAX; n++) {
        size_t most = SFB_RECORDER_PROGRAMS;

        for (size_t i = 0; i < SFB_RECORDER_PROGRAMS; i++)
            if (!named[i] && programs->of[i].cpu_ns >= MS &&
                (most == SFB_RECORDER_PROGRAMS ||
                 programs->of[i].cpu_ns > programs->of[most].cpu_ns))
                most = i;
        if (most == SFB_RECORDER_PROGRAMS || size >= room)
            break;
        named[most] = true;
        size += (size_t)snprintf(out + size, room - size, "%s%s %" PRIu64 " ms", before,
                                 programs->of[most].name, programs->of[most].cpu_ns / MS);
        before = ", ";
    }
    return size < room ? size : room;
}
