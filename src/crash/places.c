#include "crash/places.h"

#include <link.h>
#include <string.h>

#include "crash/attempt.h"
#include "crash/crash.h"
#include "crash/grammar.h"
#include "unwind/process/live_memory.h"
#include "unwind/process/loader.h"
#include "unwind/process/module_cache.h"
#include "unwind/process/program.h"

/* --- modules ------------------------------------------------------------------------------------
 */

/* After this many faults in the loader's tables, they are not read again. */
enum { LOADER_FAULTS_MAX = 4 };

static unsigned loader_faults;

/*
 * The modules found last: calls go back and forth between a few modules, and each search probes
 * several pages.
 */
static struct sfb_loaded recent[4];
static unsigned oldest;

void sfb_places_begin(void)
{
    loader_faults = 0;
    for (size_t i = 0; i < sizeof recent / sizeof *recent; i++)
        recent[i].end = recent[i].start = 0;
}

static struct question {
    uint64_t address;
    struct sfb_loaded loaded;
    bool found;
} question; /* not on the stack: a fault may interrupt the lookup */

static void ask_loader(void *with)
{
    struct question *q = with;

    q->found = sfb_loaded_find(&q->loaded, q->address);
}

/* Finds a cached module with its first page still mapped. */
static bool recall(struct sfb_loaded *out, uint64_t address)
{
    for (unsigned i = 0; i < SFB_LOADED_REMEMBERED; i++)
        if (sfb_loaded_remembered(out, i) && address - out->start < out->end - out->start &&
            sfb_pages_probe(out->start, 1))
            return true;
    return false;
}

static const struct sfb_loaded *find(uint64_t address)
{
    struct sfb_loaded *loaded;

    for (size_t i = 0; i < sizeof recent / sizeof *recent; i++)
        if (address - recent[i].start < recent[i].end - recent[i].start)
            return &recent[i];
    question.address = address;
    question.found = false;
    if (loader_faults < LOADER_FAULTS_MAX) {
        if (!sfb_attempt(ask_loader, &question)) {
            loader_faults++;
            question.found = recall(&question.loaded, address);
        }
    } else {
        question.found = recall(&question.loaded, address);
    }
    if (!question.found)
        return NULL;
    loaded = &recent[oldest++ % (sizeof recent / sizeof *recent)];
    *loaded = question.loaded;
    return loaded;
}

/* --- lists --------------------------------------------------------------------------------------
 */

static void insert(struct sfb_places *places, uint64_t start)
{
    size_t lo = 0, hi = places->count;

    while (lo < hi) {
        size_t middle = lo + (hi - lo) / 2;

        if (places->start[middle] < start)
            lo = middle + 1;
        else
            hi = middle;
    }
    if ((lo < places->count && places->start[lo] == start) || places->count == places->max)
        return;
    memmove(places->start + lo + 1, places->start + lo,
            (places->count - lo) * sizeof *places->start);
    places->start[lo] = start;
    places->count++;
}

void sfb_places_add_known(struct sfb_places *places)
{
    struct sfb_loaded loaded;

    for (unsigned i = 0; i < SFB_LOADED_REMEMBERED; i++)
        if (sfb_loaded_remembered(&loaded, i))
            insert(places, loaded.start);
}

void sfb_places_add(struct sfb_places *places, uint64_t address)
{
    const struct sfb_loaded *loaded = find(address);

    if (loaded)
        insert(places, loaded->start);
}

/* --- text ---------------------------------------------------------------------------------------
 */

/* A longer name is cut off. */
enum { NAME_SIZE_MAX = 4096 };

static bool read_char(struct sfb_memory *memory, uint64_t address, char *out)
{
    return sfb_memory_copy(memory, address, out, 1) && *out != '\0';
}

/* @return the bytes of a name up to and with its last '/' */
static uint64_t folder_size(struct sfb_memory *memory, uint64_t name)
{
    uint64_t size = 0;
    char c;

    for (uint64_t i = 0; i < NAME_SIZE_MAX && read_char(memory, name + i, &c); i++)
        if (c == '/')
            size = i + 1;
    return size;
}

/*
 * Writes the name of a module as the loader has it; the program's is empty there.
 *
 * @param whole  false: without its folder, and with blanks escaped like unprintable characters
 */
static void put_name(struct sfb_text *text, uint64_t link_map, bool whole)
{
    struct sfb_memory memory;
    uint64_t name = 0;
    char c;

    sfb_memory_probed(&memory);
    if (link_map)
        sfb_memory_copy(&memory, link_map + offsetof(struct link_map, l_name), &name, sizeof name);
    if (name && !read_char(&memory, name, &c))
        name = (uintptr_t)sfb_program_path();
    if (!name || !read_char(&memory, name, &c)) {
        sfb_text_char(text, '?');
        return;
    }
    if (!whole)
        name += folder_size(&memory, name);
    for (uint64_t i = 0; i < NAME_SIZE_MAX && read_char(&memory, name + i, &c); i++)
        sfb_text_foreign(text, c, whole ? '\\' : ' ');
}

static void put_build_id(struct sfb_text *text, const struct sfb_build_id *id)
{
    sfb_text_string(text, SFB_CRASH_BUILD_ID);
    if (id->size > 0)
        sfb_text_bytes(text, id->bytes, id->size);
    else
        sfb_text_string(text, SFB_CRASH_NO_BUILD_ID);
}

void sfb_place_put(struct sfb_text *text, uint64_t address)
{
    const struct sfb_loaded *loaded = find(address);

    if (!loaded) {
        sfb_text_char(text, '?');
        return;
    }
    put_name(text, loaded->link_map, false);
    sfb_text_char(text, '+');
    sfb_text_hex(text, address - loaded->bias);
    put_build_id(text, &loaded->build_id);
}

void sfb_place_put_module(struct sfb_text *text, uint64_t start)
{
    const struct sfb_loaded *loaded = find(start);

    if (!loaded || loaded->start != start)
        return; /* unloaded */
    sfb_text_string(text, SFB_CRASH_MODULE);
    sfb_text_hex(text, loaded->start);
    sfb_text_string(text, SFB_CRASH_TO);
    sfb_text_hex(text, loaded->end);
    put_build_id(text, &loaded->build_id);
    sfb_text_char(text, ' ');
    put_name(text, loaded->link_map, true);
    sfb_text_char(text, '\n');
}
