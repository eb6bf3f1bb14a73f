/*
 * Places of code in a merged process. One program runs at other addresses each time: each of its modules gets one place, which
 * is where it was first seen if that is free. Code with a name that its process gave, and addresses without a module, have
 * places of their own.
 */
#ifndef PROFILER_REPORT_MODEL_MERGE_PLACES_H
#define PROFILER_REPORT_MODEL_MERGE_PLACES_H

#include "profiler/report/model/data.h"
#include "symbols/image_modules.h"
#include "symbols/loaded_modules.h"
#include "symbols/perf_map.h"
#include "util/index.h"
#include "util/strings.h"

struct merge_module {
    uint32_t path, id; /* strings; id: the build-id, in hexadecimal */
    uint64_t base, size;
    uint8_t build_id[64];
    size_t build_id_size;
};

struct merge_places {
    REPORT_ARRAY(struct merge_module) modules;
    struct report_index index;   /* of modules, by path and by build-id and size */
    struct report_strings texts; /* of modules */
    struct report_strings made;  /* names of code that processes made */
    uint64_t next;               /* where the next module may stand */
};

/* A list of modules of an input, and where they stand in the merged process. */
struct merge_view {
    struct image_modules images;
    struct loaded_modules map;
    const struct object_perf_map *made; /* NULL: none */
    uint32_t *places;                   /* of each image: its module; REPORT_NONE: unknown */
};

/*
 * Reads a list. A damaged one has no module.
 *
 * @param list  NULL: the process has no list
 * @return false: no memory; out is to be freed in any case
 */
bool merge_view_open(struct merge_view *out, struct merge_places *places,
                     const struct report_list *list, const struct object_perf_map *made);

void merge_view_close(struct merge_view *view);

/*
 * @param address  of a frame
 * @param lookup   of its code: a return address less 1
 * @param out      the address in the merged process
 * @return false: no memory
 */
bool merge_places_find(struct merge_places *places, const struct merge_view *view, uint64_t address,
                       uint64_t lookup, uint64_t *out);

/* Writes them: the modules of a process from the beginning on, and its made code. */
enum sfb_status merge_places_write(const struct merge_places *places,
                                   struct sfb_recording_writer *writer, uint32_t process,
                                   uint64_t time);

void merge_places_free(struct merge_places *places);

#endif
