#include "cli/report/groups.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "sfb/recording.h"
#include "util/counted.h"

/* @return false: no memory. A file that is no recording has no labels: it is complained of when it is read */
static bool read_labels(struct labels *out, const char *path)
{
    struct sfb_recording_reader *reader;
    struct sfb_recording_event e;
    bool good = true;

    *out = (struct labels){ .text = NULL };
    if (sfb_recording_reader_open(&reader, path, NULL) != SFB_OK)
        return true;
    if (sfb_recording_reader_next(reader, &e) == SFB_OK && e.kind == SFB_EVENT_START)
        good = labels_add(out, e.of.start.labels, e.of.start.labels_size);
    sfb_recording_reader_close(reader);
    return good;
}

static bool has_all(const struct labels *labels, const struct labels *wanted)
{
    for (const char *l = labels_next(wanted, NULL); l; l = labels_next(wanted, l)) {
        const char *sign = strchr(l, '=');
        char *key = strndup(l, (size_t)(sign - l));
        const char *value = key ? labels_value(labels, key) : NULL;
        const bool same = value && strcmp(value, sign + 1) == 0;

        free(key);
        if (!same)
            return false;
    }
    return true;
}

/* @param both  written: a file that is of both groups; NULL: none is. @return false: no memory */
static bool sort_paths(struct report_request *r, const struct labels wanted[2], size_t counts[2],
                       const char **both)
{
    char **const paths = r->paths + 2;
    const size_t count = r->path_count - 2;
    size_t used = 0;

    *both = NULL;
    for (size_t i = 0; i < count; i++) {
        struct labels labels;
        bool has[2];

        if (!read_labels(&labels, paths[i]))
            return false;
        for (size_t g = 0; g < 2; g++)
            has[g] = has_all(&labels, &wanted[g]);
        if (has[0] && has[1])
            *both = paths[i];
        if (has[0] || has[1]) {
            r->groups[used] = !has[0];
            r->paths[used++] = paths[i];
            counts[!has[0]]++;
        }
        labels_free(&labels);
    }
    if (used < count && !*both)
        tool_complain(TOOL_DONE, "report: --diff: %s of neither",
                      counted(count - used, "recordings are").text);
    r->path_count = used;
    return true;
}

enum tool_exit report_groups_choose(struct report_request *r)
{
    struct labels wanted[2] = { { .text = NULL }, { .text = NULL } };
    enum tool_exit exit_status = TOOL_DONE;
    const char *const names[2] = { r->paths[0], r->paths[1] };
    size_t counts[2] = { 0, 0 };
    const char *both = NULL;

    for (size_t g = 0; g < 2 && exit_status == TOOL_DONE; g++) {
        const char *fault = labels_parse(&wanted[g], names[g]);

        if (fault)
            exit_status = tool_misused(
                r->command, "--diff takes two recordings, or two labels and recordings: '%s' %s",
                names[g], fault);
    }
    r->groups = calloc(r->path_count, 1);
    if (exit_status == TOOL_DONE && (!r->groups || !sort_paths(r, wanted, counts, &both)))
        exit_status = tool_complain(TOOL_USAGE, "%s", strerror(ENOMEM));
    if (both)
        exit_status = tool_complain(TOOL_USAGE, "report: --diff: %s has %s and %s: old or new?",
                                    both, names[0], names[1]);
    for (size_t g = 0; g < 2 && exit_status == TOOL_DONE; g++)
        if (counts[g] == 0)
            exit_status =
                tool_complain(TOOL_USAGE, "report: --diff: no recording has %s", names[g]);
    labels_free(&wanted[0]);
    labels_free(&wanted[1]);
    return exit_status;
}
