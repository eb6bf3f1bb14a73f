#include "unwind/capture/swift_runtime.h"

#include <link.h>
#include <stddef.h>
#include <string.h>

#include "base/memory.h"
#include "unwind/process/live_memory.h"
#include "unwind/process/loader.h"

static const char LIBRARY[] = "libswift_Concurrency.so";

enum { PATH_LENGTH_MAX = 4096 };

/* Compares the last part of a path in memory that may be gone. */
static bool is_library(uint64_t path)
{
    struct sfb_memory memory;
    size_t same =
        0; /* characters of the present part that are LIBRARY's; sizeof LIBRARY: too many */
    char c;

    sfb_memory_probed(&memory);
    for (uint64_t i = 0; i < PATH_LENGTH_MAX; i++) {
        if (!sfb_memory_copy(&memory, path + i, &c, 1))
            return false;
        if (c == '\0')
            return same == sizeof LIBRARY - 1;
        if (c == '/')
            same = 0;
        else
            same = same < sizeof LIBRARY - 1 && c == LIBRARY[same] ? same + 1 : sizeof LIBRARY;
    }
    return false;
}

static bool is_runtime(const struct sfb_loaded *module)
{
    struct sfb_memory memory;
    uint64_t name;

    sfb_memory_probed(&memory);
    return module->link_map != 0 &&
           sfb_memory_copy(&memory, module->link_map + offsetof(struct link_map, l_name), &name,
                           sizeof name) &&
           name != 0 && is_library(name);
}

bool sfb_swift_runtime_has(struct sfb_swift_runtime *runtime, uint64_t pc)
{
    struct sfb_loaded module;

    if (pc - runtime->start >= runtime->end - runtime->start) {
        if (!sfb_loaded_find(&module, pc))
            return false;
        *runtime = (struct sfb_swift_runtime){ module.start, module.end, is_runtime(&module) };
    }
    return runtime->is_it;
}
