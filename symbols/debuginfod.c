#include "symbols/debuginfod.h"

#include <dlfcn.h>
#include <errno.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

/* <elfutils/debuginfod.h>, declared here: its package is not needed to build this. */
typedef void *begin_function(void);
typedef void end_function(void *client);
typedef int find_function(void *client, const unsigned char *id, int size, char **path);
typedef int progress_function(void *client, long done, long all);
typedef void set_progress_function(void *client, progress_function *progress);
typedef void set_data_function(void *client, void *data);
typedef void *get_data_function(void *client);

struct object_debuginfod {
    void *library, *client;
    end_function *end;
    find_function *find_file, *find_debug;
    const char *gone;        /* NULL, or why no server is queried any more */
    int64_t patience, since; /* timeout in seconds; time of the last progress */
    long done;               /* progress at that time */
    bool stopped;
};

/* The library's default, for each of three attempts. */
enum { TIMEOUT_SECONDS = 90 };

/* While the size is unknown, `done` may count calls only: less than this much growth is no progress. */
enum { CALLS_MAX = 4096 };

/* Finds the client in the callback: libdebuginfod passes no user data otherwise. */
static get_data_function *get_data;

static int64_t seconds(void)
{
    struct timespec now;

    clock_gettime(CLOCK_MONOTONIC, &now);
    return now.tv_sec;
}

/*
 * @param done  bytes; before the first byte a count of calls, which is no progress
 * @return whether to stop
 */
static int look_at_progress(void *client, long done, long all)
{
    struct object_debuginfod *c = get_data(client);

    if (all > 0 ? done != c->done : done > c->done + CALLS_MAX) {
        c->done = done;
        c->since = seconds();
    }
    c->stopped = seconds() - c->since > c->patience;
    return c->stopped;
}

static void be_impatient(struct object_debuginfod *c)
{
    const char *timeout = getenv("DEBUGINFOD_TIMEOUT");
    set_progress_function *set_progress;
    set_data_function *set_data;

    c->patience = timeout ? strtol(timeout, NULL, 10) : 0;
    if (c->patience <= 0)
        c->patience = TIMEOUT_SECONDS;
    *(void **)&set_progress = dlsym(c->library, "debuginfod_set_progressfn");
    *(void **)&set_data = dlsym(c->library, "debuginfod_set_user_data");
    *(void **)&get_data = dlsym(c->library, "debuginfod_get_user_data");
    if (!set_progress || !set_data || !get_data)
        return;
    set_data(c->client, c);
    set_progress(c->client, look_at_progress);
}

static bool load(struct object_debuginfod *c)
{
    begin_function *begin;

    c->library = dlopen("libdebuginfod.so.1", RTLD_NOW | RTLD_LOCAL);
    if (!c->library)
        return false;
    *(void **)&begin = dlsym(c->library, "debuginfod_begin");
    *(void **)&c->end = dlsym(c->library, "debuginfod_end");
    *(void **)&c->find_file = dlsym(c->library, "debuginfod_find_executable");
    *(void **)&c->find_debug = dlsym(c->library, "debuginfod_find_debuginfo");
    if (begin && c->end && c->find_file && c->find_debug)
        c->client = begin();
    return c->client != NULL;
}

struct object_debuginfod *object_debuginfod_open(const char **cause)
{
    const char *urls = getenv("DEBUGINFOD_URLS");
    struct object_debuginfod *c;

    *cause = "DEBUGINFOD_URLS names no server";
    if (!urls || urls[strspn(urls, " ")] == '\0')
        return NULL;
    *cause = "libdebuginfod.so.1 cannot be loaded";
    c = calloc(1, sizeof *c);
    if (c && load(c)) {
        be_impatient(c);
        return c;
    }
    if (c && c->library)
        dlclose(c->library);
    free(c);
    return NULL;
}

void object_debuginfod_close(struct object_debuginfod *c)
{
    if (!c)
        return;
    c->end(c->client);
    dlclose(c->library);
    free(c);
}

/* @return NULL: the servers may be queried again */
static const char *reason_to_stop(const struct object_debuginfod *c, int error)
{
    if (error == ETIME || error == ETIMEDOUT || c->stopped)
        return "no answer in time; no more is asked";
    if (error == ECONNREFUSED || error == EHOSTUNREACH || error == ENETUNREACH)
        return "no server can be reached; no more is asked";
    return NULL;
}

char *object_debuginfod_find(struct object_debuginfod *c, enum object_part part,
                             const struct object_build_id *id, const char **cause)
{
    find_function *find = part == OBJECT_FILE ? c->find_file : c->find_debug;
    char *path = NULL;
    int fd;

    *cause = c->gone;
    if (c->gone)
        return NULL;
    c->since = seconds();
    c->done = 0;
    fd = find(c->client, id->bytes, (int)id->size, &path);
    if (fd >= 0) {
        close(fd);
        return path;
    }
    free(path);
    c->gone = reason_to_stop(c, -fd);
    *cause = c->gone ? c->gone : fd == -ENOENT ? "no server has it" : strerror(-fd);
    return NULL;
}
