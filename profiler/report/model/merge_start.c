#include <stdlib.h>
#include <string.h>

#include "profiler/report/model/merge.h"

static char *copy(const char *text, size_t size)
{
    char *out = malloc(size + 1);

    if (out) {
        memcpy(out, text, size);
        out[size] = '\0';
    }
    return out;
}

static bool take(struct report_merge_start *s, const struct sfb_recording_start *input)
{
    s->realtime = input->realtime;
    s->tick_ns = input->tick_ns;
    s->rate_hz = input->rate_hz;
    s->engine = input->engine;
    s->abi = input->abi;
    s->host = copy(input->host, strlen(input->host));
    s->command = copy(input->command, input->command_size);
    s->command_size = input->command_size;
    return s->host && s->command && labels_add(&s->labels, input->labels, input->labels_size);
}

static bool keep_common_labels(struct report_merge_start *s,
                               const struct sfb_recording_start *input)
{
    struct labels theirs = { .text = NULL }, common = { .text = NULL };
    bool good = labels_add(&theirs, input->labels, input->labels_size);

    for (const char *l = labels_next(&s->labels, NULL); good && l; l = labels_next(&s->labels, l)) {
        const char *sign = strchr(l, '=');
        char *key = strndup(l, (size_t)(sign - l));
        const char *value = key ? labels_value(&theirs, key) : NULL;

        good = key != NULL;
        if (value && strcmp(value, sign + 1) == 0)
            good = good && labels_add(&common, l, strlen(l) + 1);
        free(key);
    }
    s->labels_differ |= common.size != s->labels.size || common.size != theirs.size;
    labels_free(&theirs);
    labels_free(&s->labels);
    s->labels = common;
    return good;
}

bool report_merge_start_add(struct report_merge_start *s, const struct sfb_recording_start *input)
{
    if (s->count++ == 0)
        return take(s, input);
    if (input->realtime < s->realtime)
        s->realtime = input->realtime;
    if (strcmp(s->host, input->host) != 0)
        s->host[0] = '\0';
    if (s->command_size != input->command_size ||
        memcmp(s->command, input->command, s->command_size) != 0)
        s->command_size = 0;
    return keep_common_labels(s, input);
}

void report_merge_start_free(struct report_merge_start *s)
{
    free(s->host);
    free(s->command);
    labels_free(&s->labels);
}
