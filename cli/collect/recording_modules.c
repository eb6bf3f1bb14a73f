#include "cli/collect/recording_modules.h"

#include <errno.h>
#include <string.h>

#include "profiler/report/text/losses.h"
#include "sfb/recording.h"
#include "symbols/image_modules.h"

bool recording_modules_are_in(const struct input *input)
{
    struct sfb_recording_reader *reader;
    const enum sfb_status status =
        sfb_recording_reader_open_bytes(&reader, input->data, input->size, NULL);

    if (status == SFB_OK)
        sfb_recording_reader_close(reader);
    return status == SFB_OK || status == SFB_BAD_VERSION;
}

static bool is_wanted(void *user, const struct object_module *module)
{
    (void)user;
    (void)module;
    return true;
}

/* @return false: no memory */
static bool visit_list(const struct sfb_recording_modules *list, const struct input *input,
                       struct symbols *symbols, void (*visit)(void *user, struct module_file *file),
                       void *user, enum tool_exit *exit_status)
{
    struct image_modules images = { .count = 0 };
    struct sfb_error error;
    const enum sfb_status status = image_modules_read(&images, list->map, list->size, &error);
    bool good = status != SFB_NO_RESOURCE;

    if (good && status != SFB_OK)
        *exit_status = tool_worse(*exit_status,
                                  tool_complain(TOOL_BAD_DATA, "%s: a list of modules: %s: %s",
                                                input->name, error.field, sfb_status_str(status)));
    if (status == SFB_OK) {
        good = symbols_use_modules(symbols, images.modules, images.count);
        if (good)
            symbols_each_module(symbols, is_wanted, visit, user);
        /* They are not borrowed any longer. */
        good = symbols_use_modules(symbols, NULL, 0) && good;
    }
    image_modules_free(&images);
    return good;
}

static void judge(struct sfb_recording_reader *reader, const struct input *input,
                  enum tool_exit *exit_status)
{
    struct sfb_recording_health h;

    sfb_recording_reader_health(reader, &h);
    if (report_is_damaged(&h))
        *exit_status = tool_worse(
            *exit_status,
            tool_complain(TOOL_BAD_DATA,
                          "%s: damaged: parts of it are missing; sfb report --check says more",
                          input->name));
}

bool recording_modules_each(const struct input *input, struct symbols *symbols,
                            void (*visit)(void *user, struct module_file *file), void *user,
                            enum tool_exit *exit_status)
{
    struct sfb_recording_reader *reader;
    struct sfb_recording_event event;
    enum sfb_status status =
        sfb_recording_reader_open_bytes(&reader, input->data, input->size, NULL);

    if (status != SFB_OK) {
        *exit_status =
            status == SFB_NO_RESOURCE
                ? tool_complain(TOOL_USAGE, "%s: %s", input->name, strerror(ENOMEM))
                : tool_complain(TOOL_BAD_DATA, "%s: a recording of a later version", input->name);
        return false;
    }
    while ((status = sfb_recording_reader_next(reader, &event)) == SFB_OK)
        if (event.kind == SFB_EVENT_MODULES &&
            !visit_list(&event.of.modules, input, symbols, visit, user, exit_status)) {
            status = SFB_NO_RESOURCE;
            break;
        }
    judge(reader, input, exit_status);
    sfb_recording_reader_close(reader);
    if (status == SFB_END)
        return true;
    *exit_status = tool_complain(TOOL_USAGE, "%s: %s", input->name, strerror(ENOMEM));
    return false;
}
