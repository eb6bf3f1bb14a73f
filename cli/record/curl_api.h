/*
 * What is used of libcurl. It is loaded by the process that uploads: linked, it and its thirty libraries would take 6 ms of CPU time of
 * every command.
 */
#ifndef CLI_RECORD_CURL_API_H
#define CLI_RECORD_CURL_API_H

#define CURL_DISABLE_TYPECHECK
#include <curl/curl.h>
#include <stdbool.h>
#include <stddef.h>

struct curl_api {
    CURLcode (*global_init)(long flags);
    CURL *(*easy_init)(void);
    CURLcode (*easy_setopt)(CURL *curl, CURLoption option, ...);
    CURLcode (*easy_perform)(CURL *curl);
    CURLcode (*easy_getinfo)(CURL *curl, CURLINFO info, ...);
    void (*easy_cleanup)(CURL *curl);
    const char *(*easy_strerror)(CURLcode code);
    struct curl_slist *(*slist_append)(struct curl_slist *list, const char *text);
    void (*slist_free_all)(struct curl_slist *list);
    CURLU *(*url)(void);
    CURLUcode (*url_set)(CURLU *url, CURLUPart part, const char *text, unsigned flags);
    void (*url_cleanup)(CURLU *url);
};

/* Loads it at the first call. @return NULL: *why says why not */
const struct curl_api *curl_api_load(const char **why);

#endif
