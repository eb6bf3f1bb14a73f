#include "profiler/report/model/merge_places.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "sfb/image_map.h"
#include "util/hex_text.h"

/* Stretches of a merged process: nothing else stands there. */
#define UNKNOWN     UINT64_C(0x500000000000) /* 44 bits of an address without a module */
#define UNKNOWN_END UINT64_C(0x600000000000)
#define MADE        UINT64_C(0x600000000000)
#define MADE_END    UINT64_C(0x640000000000)
#define MODULES     UINT64_C(0x100000000000)
#define MODULES_END UINT64_C(0x500000000000)

enum { MADE_SIZE = 64, ALIGNMENT = 2 << 20 };

static const uint64_t module_most = UINT64_C(1) << 40;

/* --- Where modules stand ----------------------------------------------------------------------- */

static bool is_free(const struct merge_places *places, uint64_t base, uint64_t size)
{
    if (base + size < base || (base < MADE_END && base + size > UNKNOWN))
        return false;
    for (size_t i = 0; i < places->modules.count; i++) {
        const struct merge_module *m = &places->modules.at[i];

        if (base < m->base + m->size && m->base < base + size)
            return false;
    }
    return true;
}

/* @return 0: no room */
static uint64_t room_for(struct merge_places *places, uint64_t base, uint64_t size)
{
    if (is_free(places, base, size))
        return base;
    if (places->next == 0)
        places->next = MODULES;
    while (places->next + size < MODULES_END) {
        const uint64_t at = places->next;

        places->next = (at + size + 2 * ALIGNMENT - 1) / ALIGNMENT * ALIGNMENT;
        if (is_free(places, at, size))
            return at;
    }
    return 0;
}

/* @return false: no memory */
static bool place(struct merge_places *places, const struct loaded_module *m, uint32_t *out)
{
    char id[2 * sizeof m->build_id + 32];
    const uint64_t size = m->end - m->start;
    struct merge_module *module;
    uint32_t path, text;
    uint64_t base;
    bool found;

    *out = REPORT_NONE;
    if (m->end <= m->start || size > module_most)
        return true;
    sfb_hex_text(id, m->build_id, m->size);
    snprintf(id + strlen(id), 24, ":%" PRIx64, size);
    if (!report_strings_add(&places->texts, m->path, &path) ||
        !report_strings_add(&places->texts, id, &text) ||
        !report_index_find(&places->index, path, text, (uint32_t)places->modules.count, out,
                           &found))
        return false;
    if (found)
        return true;
    base = room_for(places, m->start, size);
    module = REPORT_NEXT(places->modules);
    if (!module)
        return false;
    *module = (struct merge_module){
        .path = path, .id = text, .base = base, .size = size, .build_id_size = m->size
    };
    memcpy(module->build_id, m->build_id, m->size);
    return true;
}

bool merge_view_open(struct merge_view *out, struct merge_places *places,
                     const struct report_list *list, const struct object_perf_map *made)
{
    struct sfb_error error;
    bool good = true;

    *out = (struct merge_view){ .made = made };
    if (!list)
        return true;
    if (image_modules_read(&out->images, list->map, list->size, &error) == SFB_NO_RESOURCE)
        return false;
    out->places = calloc(out->images.count + 1, sizeof *out->places);
    good = out->places && loaded_modules_make(&out->map, out->images.modules, out->images.count);
    for (size_t i = 0; good && i < out->images.count; i++)
        good = place(places, &out->images.modules[i], &out->places[i]);
    return good;
}

void merge_view_close(struct merge_view *view)
{
    loaded_modules_free(&view->map);
    image_modules_free(&view->images);
    free(view->places);
    *view = (struct merge_view){ .made = NULL };
}

/* --- Where addresses stand --------------------------------------------------------------------- */

bool merge_places_find(struct merge_places *places, const struct merge_view *view, uint64_t address,
                       uint64_t lookup, uint64_t *out)
{
    const struct loaded_module *m =
        view->map.count > 0 ? loaded_modules_find(&view->map, lookup) : NULL;
    const uint32_t module = m ? view->places[m - view->images.modules] : REPORT_NONE;
    const struct object_perf_symbol *made =
        !m && view->made ? object_perf_map_find(view->made, lookup) : NULL;
    uint32_t name;

    if (module != REPORT_NONE && places->modules.at[module].base != 0) {
        *out = places->modules.at[module].base + (address - m->start);
        return true;
    }
    *out = UNKNOWN + address % (UNKNOWN_END - UNKNOWN);
    if (!made)
        return true;
    if (!report_strings_add(&places->made, made->name, &name))
        return false;
    *out = MADE + (uint64_t)name * MADE_SIZE + 1; /* all of 32 bits fit */
    return true;
}

/* --- Writing ----------------------------------------------------------------------------------- */

/* A list without a module counts as a loss. */
static bool has_modules(const struct merge_places *places)
{
    for (size_t i = 0; i < places->modules.count; i++)
        if (places->modules.at[i].base != 0)
            return true;
    return false;
}

static enum sfb_status write_modules(const struct merge_places *places,
                                     struct sfb_recording_writer *writer, uint32_t process,
                                     uint64_t time)
{
    struct sfb_recording_modules event = { .process = process, .time = time };
    struct sfb_image_map_encoder encoder;
    size_t room = 1024;
    uint8_t *map;
    enum sfb_status status;

    for (size_t i = 0; i < places->modules.count; i++)
        room += strlen(places->texts.all.at[places->modules.at[i].path]) + 128;
    map = malloc(room);
    if (!map)
        return SFB_NO_RESOURCE;
    status = sfb_image_map_encoder_init(&encoder, map, room, 64, "Linux", NULL, 0);
    for (size_t i = 0; status == SFB_OK && i < places->modules.count; i++) {
        const struct merge_module *m = &places->modules.at[i];
        const char *path = places->texts.all.at[m->path];
        const struct sfb_image image = { .base = m->base,
                                         .end_of_text = m->base + m->size,
                                         .build_id = m->build_id_size > 0 ? m->build_id : NULL,
                                         .build_id_size = m->build_id_size,
                                         .path = path,
                                         .path_size = strlen(path) };

        if (m->base != 0 && image.path_size <= SFB_IMAGE_PATH_MAX)
            status = sfb_image_map_encoder_put(&encoder, &image);
    }
    if (status == SFB_OK) {
        event.map = map;
        event.size = sfb_image_map_encoder_end(&encoder);
        status = sfb_recording_put_modules(writer, &event);
    }
    free(map);
    return status;
}

static enum sfb_status write_made(const struct merge_places *places,
                                  struct sfb_recording_writer *writer, uint32_t process)
{
    struct sfb_recording_file event = { .process = process, .name = "perf-merged.map" };
    char *text = NULL;
    FILE *to;
    enum sfb_status status;

    if (places->made.all.count == 0)
        return SFB_OK;
    to = open_memstream(&text, &event.size);
    if (!to)
        return SFB_NO_RESOURCE;
    for (size_t i = 0; i < places->made.all.count; i++)
        fprintf(to, "%" PRIx64 " %x %s\n", MADE + (uint64_t)i * MADE_SIZE, MADE_SIZE,
                places->made.all.at[i]);
    status = fclose(to) == 0 ? SFB_OK : SFB_NO_RESOURCE;
    event.bytes = text;
    if (status == SFB_OK)
        status = sfb_recording_put_file(writer, &event);
    free(text);
    return status;
}

enum sfb_status merge_places_write(const struct merge_places *places,
                                   struct sfb_recording_writer *writer, uint32_t process,
                                   uint64_t time)
{
    const enum sfb_status status =
        has_modules(places) ? write_modules(places, writer, process, time) : SFB_OK;

    return status == SFB_OK ? write_made(places, writer, process) : status;
}

void merge_places_free(struct merge_places *places)
{
    free(places->modules.at);
    report_index_free(&places->index);
    report_strings_free(&places->texts);
    report_strings_free(&places->made);
    *places = (struct merge_places){ .next = 0 };
}
