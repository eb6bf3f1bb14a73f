#include "object/debuginfod.h"

#include <dlfcn.h>
#include <errno.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

/* <elfutils/debuginfod.h>: its package is not needed to build this. */
typedef void *begin_function(void);
typedef void end_function(void *client);
typedef int find_function(void *client, const unsigned char *id, int size, char **path);

struct object_debuginfod {
    void *library, *client;
    end_function *end;
    find_function *find_file, *find_debug;
    const char *gone; /* NULL, or why nobody is asked any more */
};

/* What a failed question may take before it is the last one. */
enum { PATIENCE_SECONDS = 10 };

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
    if (c && load(c))
        return c;
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

static int64_t seconds(void)
{
    struct timespec now;

    clock_gettime(CLOCK_MONOTONIC, &now);
    return now.tv_sec;
}

/* @return NULL: the server may be asked again */
static const char *reason_to_stop(int error, int64_t took)
{
    if (error == ETIME || error == ETIMEDOUT || took >= PATIENCE_SECONDS)
        return "no answer in time; no more is asked";
    if (error == ECONNREFUSED || error == EHOSTUNREACH || error == ENETUNREACH)
        return "no server can be reached; no more is asked";
    return NULL;
}

char *object_debuginfod_find(struct object_debuginfod *c, enum object_part part,
                             const struct object_build_id *id, const char **cause)
{
    find_function *find = part == OBJECT_FILE ? c->find_file : c->find_debug;
    const int64_t start = seconds();
    char *path = NULL;
    int fd;

    *cause = c->gone;
    if (c->gone)
        return NULL;
    fd = find(c->client, id->bytes, (int)id->size, &path);
    if (fd >= 0) {
        close(fd);
        return path;
    }
    free(path);
    c->gone = reason_to_stop(-fd, seconds() - start);
    *cause = c->gone ? c->gone : fd == -ENOENT ? "no server has it" : strerror(-fd);
    return NULL;
}
