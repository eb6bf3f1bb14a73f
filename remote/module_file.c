#include "remote/module_file.h"

#include "symbols/search.h"

bool remote_module_file(struct object_opened *out, const struct object_module *module)
{
    const struct object_places nowhere_else = { .path_count = 0 };
    struct object_trail trail = { .count = 0 };
    struct object_search search = { .module = module,
                                    .places = &nowhere_else,
                                    .wanted = { .part = OBJECT_FILE, .id = module->id },
                                    .out = out,
                                    .trail = &trail };
    const bool is_path = !module->gone && (!module->opens || module->id.size > 0);
    const bool found =
        (module->opens && object_search_path(&search, "%s", module->opens)) ||
        (is_path && object_search_has_file(&search) &&
         object_search_path(&search, "%s%s", object_search_root(&search), module->path)) ||
        (module->id.size > 0 && object_search_debug_folder(&search));

    object_trail_free(&trail);
    return found;
}
