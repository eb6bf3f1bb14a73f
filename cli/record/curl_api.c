#include "cli/record/curl_api.h"

#include <dlfcn.h>
#include <string.h>

static bool find(void *library, const char *name, void *function, size_t size)
{
    void *at = dlsym(library, name);

    /* POSIX lets a function have an object's pointer; C does not. */
    if (at && size == sizeof at)
        memcpy(function, &at, size);
    return at != NULL;
}

#define FIND(member) find(library, "curl_" #member, &api.member, sizeof api.member)

const struct curl_api *curl_api_load(const char **why)
{
    static struct curl_api api;
    static bool loaded;
    void *library;

    if (loaded)
        return &api;
    library = dlopen("libcurl.so.4", RTLD_NOW | RTLD_LOCAL);
    if (!library) {
        *why = dlerror();
        return NULL;
    }
    loaded = FIND(global_init) && FIND(easy_init) && FIND(easy_setopt) && FIND(easy_perform) &&
             FIND(easy_getinfo) && FIND(easy_cleanup) && FIND(easy_strerror) &&
             FIND(slist_append) && FIND(slist_free_all) && FIND(url) && FIND(url_set) &&
             FIND(url_cleanup) && api.global_init(CURL_GLOBAL_DEFAULT) == CURLE_OK;
    if (!loaded)
        *why = "libcurl.so.4 is not as it should be";
    return loaded ? &api : NULL;
}
