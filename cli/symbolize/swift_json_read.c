#include <errno.h>
#include <inttypes.h>
#include <jansson.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "cli/frame_print.h"
#include "cli/symbolize/swift_json.h"
#include "util/counted.h"
#include "util/foreign.h"
#include "util/hex.h"

/* One log of an input. */
struct reading {
    const struct stack_print *print;
    const char *name; /* of the input */
    size_t number;    /* of the log, from 1 */
    struct loaded_module *modules;
    size_t module_count;
    uint64_t frame; /* number of the next */
    bool awaits;    /* the frame before is asynchronous, or this is the first */
    enum tool_exit exit_status;
};

bool swift_json_is(const struct input *input)
{
    size_t at = 0;

    while (at < input->size && strchr(" \t\r\n", input->data[at]) && input->data[at] != '\0')
        at++;
    return at < input->size && input->data[at] == '{';
}

/* Bytes at the start of a log that have its kind. */
enum { HEAD_SIZE = 256 };

/* @return where the next log begins that other lines stand around; size: nowhere */
static size_t next_log(const char *text, size_t at, size_t size)
{
    static const char kind[] = "\"crashReport\"";

    while (at < size) {
        const char *end = memchr(text + at, '\n', size - at);
        const size_t next = end ? (size_t)(end - text) : size,
                     head = next - at < HEAD_SIZE ? next - at : HEAD_SIZE;

        if (text[at] == '{' && memmem(text + at, head, kind, sizeof kind - 1))
            return at;
        at = next + 1;
    }
    return size;
}

bool swift_json_has(const struct input *input)
{
    return next_log((const char *)input->data, 0, input->size) < input->size;
}

static void complain(struct reading *r, const char *what)
{
    r->exit_status = tool_worse(r->exit_status,
                                tool_complain(TOOL_BAD_DATA, "%s: log %zu: frame %" PRIu64 ": %s",
                                              r->name, r->number, r->frame, what));
}

/* @return a text; NULL: the object has no such text */
static const char *text_of(const json_t *object, const char *key)
{
    return json_string_value(json_object_get(object, key));
}

/* "0x00005617". @return false: no such number */
static bool number_of(const json_t *object, const char *key, uint64_t *out)
{
    const char *text = text_of(object, key);

    if (!text || strncmp(text, "0x", 2) != 0)
        return false;
    return text[2] && hex_number(text + 2, strlen(text + 2), out) == strlen(text + 2);
}

/* --- Images ------------------------------------------------------------------------------------------------ */

static bool take_image(struct loaded_module *out, const json_t *image)
{
    const char *path = text_of(image, "path"), *id = text_of(image, "buildId");
    size_t size, at;

    *out = (struct loaded_module){ .path = strdup(path ? path : "") };
    if (!out->path || !path || !number_of(image, "baseAddress", &out->start) ||
        !number_of(image, "endOfText", &out->end) || out->end <= out->start)
        return false;
    size = id ? strlen(id) : 0;
    if (size > 0 && size <= 2 * sizeof out->build_id) {
        uint8_t bytes[2 * sizeof out->build_id];

        memcpy(bytes, id, size);
        if (hex_bytes(bytes, &size, &at) == NULL && size <= sizeof out->build_id) {
            memcpy(out->build_id, bytes, size);
            out->size = size;
        }
    }
    return true;
}

/* Images without a path or a place are left out. @return false: no memory */
static bool take_images(struct reading *r, const json_t *log)
{
    const json_t *images = json_object_get(log, "images");
    const size_t count = json_array_size(images);

    r->modules = calloc(count + 1, sizeof *r->modules);
    if (!r->modules)
        return false;
    for (size_t i = 0; i < count; i++) {
        if (take_image(&r->modules[r->module_count], json_array_get(images, i)))
            r->module_count++;
        else
            free(r->modules[r->module_count].path);
    }
    return symbols_use_modules(r->print->symbols, r->modules, r->module_count);
}

static void free_images(struct reading *r)
{
    for (size_t i = 0; i < r->module_count; i++)
        free(r->modules[i].path);
    free(r->modules);
    r->modules = NULL;
    r->module_count = 0;
}

/* --- Frames ------------------------------------------------------------------------------------------------- */

/* What the log says of it, in the words of all frames here. */
static void print_named(const struct reading *r, const json_t *frame, uint64_t address,
                        const char *symbol)
{
    const json_t *place = json_object_get(frame, "sourceLocation");
    const char *file = text_of(place, "file"), *image = text_of(frame, "image");
    const json_int_t offset = json_integer_value(json_object_get(frame, "offset"));
    const bool inlined = json_is_true(json_object_get(frame, "inlined"));
    char *name = symbol ? object_demangle(symbol, r->print->names) : NULL;

    printf("#%" PRIu64 " 0x%" PRIx64 " ", r->frame, address);
    foreign_print(stdout, name ? name : symbol ? symbol : "?");
    free(name);
    if (symbol && !inlined && offset >= 0)
        printf("+0x%" PRIx64, (uint64_t)offset);
    if (file) {
        const char *slash = strrchr(file, '/');

        fputs(" (", stdout);
        foreign_print(stdout, slash ? slash + 1 : file);
        printf(":%" JSON_INTEGER_FORMAT ")", json_integer_value(json_object_get(place, "line")));
    }
    fputs(inlined ? " inlined in " : " in ", stdout);
    foreign_print(stdout, image ? image : "?");
    putchar('\n');
}

static void print_address(struct reading *r, const json_t *frame, const char *kind)
{
    const bool async = strcmp(kind, "asyncResumePoint") == 0,
               ra = strcmp(kind, "returnAddress") == 0;
    const char *symbol = text_of(frame, "symbol");
    uint64_t address;

    if (!number_of(frame, "address", &address)) {
        complain(r, "no address");
        return;
    }
    if (async && !r->awaits)
        puts("... awaited by");
    r->awaits = async;
    if (symbol || (r->module_count == 0 && text_of(frame, "image"))) {
        print_named(r, frame, address, symbol);
        r->frame += !json_is_true(json_object_get(frame, "inlined"));
        return;
    }
    frame_print(r->print->symbols, &(struct frame_print){ r->frame, address, r->print->names },
                ra && address > 0 ? address - 1 : address);
    r->frame++;
}

static void print_frame(struct reading *r, const json_t *frame)
{
    const char *kind = text_of(frame, "kind");
    const json_int_t omitted = json_integer_value(json_object_get(frame, "count"));

    if (!kind)
        complain(r, "no kind");
    else if (strcmp(kind, "truncated") == 0)
        puts("... truncated");
    else if (strcmp(kind, "omittedFrames") == 0 && omitted > 0) {
        printf("... %s omitted\n", counted((uint64_t)omitted, "frames").text);
        r->frame += (uint64_t)omitted;
    } else if (strcmp(kind, "programCounter") == 0 || strcmp(kind, "returnAddress") == 0 ||
               strcmp(kind, "asyncResumePoint") == 0)
        print_address(r, frame, kind);
    else
        complain(r, "of no known kind");
}

/* --- Logs ---------------------------------------------------------------------------------------------------- */

static void print_thread(struct reading *r, size_t number, const json_t *thread)
{
    const json_t *frames = json_object_get(thread, "frames");
    const char *name = text_of(thread, "name");

    r->frame = 0;
    r->awaits = true;
    printf("thread %zu", number);
    if (name) {
        fputs(" \"", stdout);
        foreign_print(stdout, name);
        putchar('"');
    }
    puts(json_is_true(json_object_get(thread, "crashed")) ? ", which crashed" : "");
    if (!json_is_array(frames))
        complain(r, "a thread without frames");
    for (size_t i = 0; i < json_array_size(frames); i++)
        print_frame(r, json_array_get(frames, i));
}

static void print_log(struct reading *r, const json_t *log)
{
    const json_t *threads = json_object_get(log, "threads");
    const json_int_t left = json_integer_value(json_object_get(log, "omittedThreads"));
    const char *description = text_of(log, "description"), *at = text_of(log, "faultAddress");

    if (!json_is_array(threads)) {
        r->exit_status =
            tool_worse(r->exit_status, tool_complain(TOOL_BAD_DATA,
                                                     "%s: log %zu: it has no threads: no crash "
                                                     "log of Swift",
                                                     r->name, r->number));
        return;
    }
    foreign_print(stdout, description ? description : "?");
    if (at) {
        fputs(" at ", stdout);
        foreign_print(stdout, at);
    }
    putchar('\n');
    for (size_t i = 0; i < json_array_size(threads); i++)
        print_thread(r, i, json_array_get(threads, i));
    if (left > 0)
        printf("%s left out\n", counted((uint64_t)left, "threads are").text);
}

/* @return whether the images' files were found where they were needed */
static bool were_found(const struct reading *r)
{
    for (size_t i = 0; i < r->module_count; i++)
        if (r->modules[i].refused)
            return false;
    return true;
}

static bool is_blank(const char *text, size_t size)
{
    for (size_t i = 0; i < size; i++)
        if (text[i] == '\0' || !strchr(" \t\r\n", text[i]))
            return false;
    return true;
}

enum tool_exit swift_json_read(const struct stack_print *print, const struct input *input)
{
    struct reading r = { .print = print, .name = input->name };
    const char *text = (const char *)input->data;
    const bool alone = swift_json_is(input);
    size_t at = 0;

    while (at < input->size && !is_blank(text + at, input->size - at)) {
        json_error_t error;
        json_t *log;

        if (!alone && (at = next_log(text, at, input->size)) >= input->size)
            break;
        log = json_loadb(text + at, input->size - at, JSON_DISABLE_EOF_CHECK, &error);
        r.number++;
        if (!log) {
            const size_t where = at + (error.position > 0 ? (size_t)error.position : 0);

            return tool_complain(TOOL_BAD_DATA, "%s: text+0x%zx: %s", r.name, where, error.text);
        }
        at += (size_t)error.position;
        if (r.number > 1)
            putchar('\n');
        if (take_images(&r, log))
            print_log(&r, log);
        else
            r.exit_status = tool_complain(TOOL_USAGE, "%s", strerror(ENOMEM));
        if (!were_found(&r))
            r.exit_status = tool_worse(r.exit_status, TOOL_BAD_DATA);
        symbols_use_process(print->symbols);
        free_images(&r);
        json_decref(log);
    }
    return r.exit_status;
}
