#include "profiler/collector/processes/environment.h"

#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "profiler/protocol/shared.h"

static const char preload[] = "LD_PRELOAD=", asan[] = "ASAN_OPTIONS=",
                  session_name[] = SFB_SHARED_ENVIRONMENT "=";

/* @return the text after the name; NULL: another variable */
static const char *value_of(const char *variable, const char *name)
{
    const size_t size = strlen(name);

    return strncmp(variable, name, size) == 0 ? variable + size : NULL;
}

static const char *value_in(char *const *environment, const char *name)
{
    for (; *environment; environment++)
        if (value_of(*environment, name))
            return value_of(*environment, name);
    return "";
}

static bool is_asan(const char *path, size_t size)
{
    return memmem(path, size, "libasan", 7) || memmem(path, size, "libclang_rt.asan", 16);
}

/* Writes the libraries of a list that are (wanted), or are not, runtimes of AddressSanitizer. Skips the agent. */
static void write_libraries(FILE *out, const char *list, bool wanted, const char *agent)
{
    static const char between[] = ": \t\n";

    for (list += strspn(list, between); *list != '\0';) {
        const size_t size = strcspn(list, between);

        if (is_asan(list, size) == wanted &&
            !(size == strlen(agent) && memcmp(list, agent, size) == 0))
            fprintf(out, wanted ? "%.*s:" : ":%.*s", (int)size, list);
        list += size;
        list += strspn(list, between);
    }
}

static char *make_preload(const char *before, const char *agent)
{
    char *text = NULL;
    size_t size;
    FILE *out = open_memstream(&text, &size);

    if (!out)
        return NULL;
    fputs(preload, out);
    write_libraries(out, before, true, agent);
    fputs(agent, out);
    write_libraries(out, before, false, agent);
    if (fclose(out) == 0)
        return text;
    free(text);
    return NULL;
}

static char *joined(const char *a, const char *b, const char *c)
{
    char *out;

    return asprintf(&out, "%s%s%s", a, b, c) < 0 ? NULL : out;
}

char **sfb_recorder_environment(char *const *from, const char *agent, const char *session)
{
    static const char option[] = "verify_asan_link_order=0";
    const char *options = value_in(from, asan);
    size_t count = 0, n = 0;
    char **out;

    while (from[count])
        count++;
    out = calloc(count + 4, sizeof *out);
    if (!out)
        return NULL;
    for (; *from; from++) {
        if (value_of(*from, preload) || value_of(*from, asan) || value_of(*from, session_name))
            continue;
        out[n++] = strdup(*from);
    }
    from -= count;
    out[n++] = make_preload(value_in(from, preload), agent);
    out[n++] = joined(session_name, session, "");
    /* The last option counts. */
    out[n] = joined(asan, options, *options ? ":" : "");
    if (out[n]) {
        char *whole = joined(out[n], option, "");

        free(out[n]);
        out[n++] = whole;
    }
    for (size_t i = 0; i < n; i++)
        if (!out[i]) {
            for (size_t j = 0; j < n; j++)
                free(out[j]);
            free(out);
            return NULL;
        }
    return out;
}

void sfb_recorder_environment_free(char **environment)
{
    for (char **at = environment; at && *at; at++)
        free(*at);
    free(environment);
}
