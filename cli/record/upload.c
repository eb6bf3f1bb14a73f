#include "cli/record/upload.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "cli/record/curl_api.h"
#include "cli/tool.h"

enum { HEADERS_MOST = 8192, ANSWER_MOST = 200, CONNECT_S = 10, STALL_S = 30, WHOLE_S = 120 };

static const uint64_t second_ns = 1000000000, after_most_s = 3600;

/* --- Headers of a file ------------------------------------------------------------------------- */

/* @return its text, to be freed; NULL after a complaint: *why is written */
static char *read_headers(const char *path, char *why, size_t room)
{
    const int fd = open(path, O_RDONLY | O_CLOEXEC | O_NOCTTY | O_NONBLOCK);
    struct stat file;
    char *text = NULL;
    ssize_t size = 0;

    if (fd < 0 || fstat(fd, &file) != 0)
        snprintf(why, room, "%s: %s", path, strerror(errno));
    else if (!S_ISREG(file.st_mode) || (file.st_mode & 077) != 0 ||
             (file.st_uid != geteuid() && file.st_uid != 0))
        snprintf(why, room, "%s: others may read it: chmod 600, and owned by this user", path);
    else if (!(text = calloc(1, HEADERS_MOST + 2)) || (size = read(fd, text, HEADERS_MOST + 1)) < 0)
        snprintf(why, room, "%s: %s", path, strerror(errno));
    else if (size > HEADERS_MOST)
        snprintf(why, room, "%s: larger than %d bytes", path, HEADERS_MOST);
    if (fd >= 0)
        close(fd);
    if (text && (size <= 0 || size > HEADERS_MOST)) {
        if (size == 0)
            snprintf(why, room, "%s: it is empty", path);
        explicit_bzero(text, HEADERS_MOST + 1);
        free(text);
        return NULL;
    }
    return text;
}

/* A line each: "Authorization: Bearer ...". @return false: why is written */
static bool add_headers(const struct curl_api *api, struct curl_slist **list, const char *path,
                        char *why, size_t room)
{
    char *text = read_headers(path, why, room), *rest = text;
    bool good = text != NULL;

    for (char *line; good && (line = strsep(&rest, "\n"));) {
        struct curl_slist *longer;

        line[strcspn(line, "\r")] = '\0';
        if (!line[0])
            continue;
        longer = strchr(line, ':') ? api->slist_append(*list, line) : NULL;
        good = longer != NULL;
        if (good)
            *list = longer;
        else
            snprintf(why, room, "%s: a line is no header, as 'Authorization: Bearer TOKEN'", path);
    }
    if (text)
        explicit_bzero(text, strlen(text));
    free(text);
    return good;
}

/* --- Targets ----------------------------------------------------------------------------------- */

/* Only a port may follow the host: in "http://localhost:x@example.org" the host is behind the '@'. */
static bool is_own_machine(const char *url)
{
    static const char *const hosts[] = { "http://localhost", "http://127.0.0.1", "http://[::1]" };

    for (size_t i = 0; i < sizeof hosts / sizeof *hosts; i++) {
        const size_t size = strlen(hosts[i]);

        if (strncmp(url, hosts[i], size) == 0) {
            const char *end = url + size + (url[size] == ':');

            end += url[size] == ':' ? strspn(end, "0123456789") : 0;
            if (*end == '\0' || *end == '/' || *end == '?')
                return true;
        }
    }
    return false;
}

/* Whether libcurl can read an address: what it cannot would be tried for ever. */
static bool is_address(const struct curl_api *api, const char *text)
{
    CURLU *url = api->url();
    const bool good = url && api->url_set(url, CURLUPART_URL, text, 0) == CURLUE_OK;

    api->url_cleanup(url);
    return good;
}

bool upload_target_check(const struct upload_target *target)
{
    struct curl_slist *list = NULL;
    const char *cause = NULL;
    const struct curl_api *api = curl_api_load(&cause);
    char why[320] = "";

    if (strncmp(target->url, "https://", 8) != 0 && strncmp(target->url, "http://", 7) != 0)
        snprintf(why, sizeof why, "--upload takes an https:// or http:// address");
    else if (target->headers && target->url[4] != 's' && !is_own_machine(target->url))
        snprintf(why, sizeof why,
                 "--upload-headers goes with https://: others could read them on the way");
    else if (!api)
        snprintf(why, sizeof why, "--upload: %s", cause);
    else if (!is_address(api, target->url))
        snprintf(why, sizeof why, "--upload: not an address: '%.200s'", target->url);
    else if (target->headers)
        add_headers(api, &list, target->headers, why, sizeof why);
    if (api)
        api->slist_free_all(list);
    if (why[0])
        tool_complain(TOOL_FAILED, "record: %s", why);
    return !why[0];
}

/* --- Sending ----------------------------------------------------------------------------------- */

/* The beginning of what the receiver says. */
struct said {
    char text[ANSWER_MOST + 1];
    size_t size;
};

static size_t hear(char *bytes, size_t one, size_t count, void *user)
{
    struct said *said = user;
    const size_t size = one * count, room = ANSWER_MOST - said->size;

    memcpy(said->text + said->size, bytes, size < room ? size : room);
    said->size += size < room ? size : room;
    return size;
}

static bool comes_again(long status)
{
    return status == 429 || status == 502 || status == 503 || status == 504;
}

static void judge(const struct curl_api *api, struct upload_answer *out, CURL *curl, CURLcode code,
                  struct said *said)
{
    curl_off_t after = 0;
    long status = 0;

    if (code != CURLE_OK) {
        out->result = UPLOAD_LATER;
        snprintf(out->why, sizeof out->why, "%s", api->easy_strerror(code));
        return;
    }
    api->easy_getinfo(curl, CURLINFO_RESPONSE_CODE, &status);
    api->easy_getinfo(curl, CURLINFO_RETRY_AFTER, &after);
    if (status / 100 == 2) {
        out->result = UPLOAD_DONE;
        return;
    }
    out->result = comes_again(status) ? UPLOAD_LATER : UPLOAD_REFUSED;
    if (after > 0)
        out->after_ns =
            second_ns * ((uint64_t)after < after_most_s ? (uint64_t)after : after_most_s);
    said->text[strcspn(said->text, "\r\n")] = '\0';
    snprintf(out->why, sizeof out->why, "HTTP status %ld%s%s", status, said->text[0] ? ": " : "",
             said->text);
}

static void set_up(const struct curl_api *api, CURL *curl, const struct upload_target *target,
                   struct curl_slist *list, FILE *from, curl_off_t size, struct said *said)
{
    api->easy_setopt(curl, CURLOPT_URL, target->url);
    api->easy_setopt(curl, CURLOPT_PROTOCOLS_STR, "http,https");
    api->easy_setopt(curl, CURLOPT_NOSIGNAL, 1L);
    api->easy_setopt(curl, CURLOPT_POST, 1L);
    api->easy_setopt(curl, CURLOPT_READDATA, from);
    api->easy_setopt(curl, CURLOPT_POSTFIELDSIZE_LARGE, size);
    api->easy_setopt(curl, CURLOPT_HTTPHEADER, list);
    api->easy_setopt(curl, CURLOPT_USERAGENT, "sframe-backtrace/" SFB_VERSION);
    api->easy_setopt(curl, CURLOPT_WRITEFUNCTION, hear);
    api->easy_setopt(curl, CURLOPT_WRITEDATA, said);
    api->easy_setopt(curl, CURLOPT_CONNECTTIMEOUT, (long)CONNECT_S);
    api->easy_setopt(curl, CURLOPT_LOW_SPEED_LIMIT, 1L);
    api->easy_setopt(curl, CURLOPT_LOW_SPEED_TIME, (long)STALL_S);
    api->easy_setopt(curl, CURLOPT_TIMEOUT, (long)WHOLE_S);
    /* A proxy of the environment would have the headers in clear text. */
    if (target->headers && is_own_machine(target->url))
        api->easy_setopt(curl, CURLOPT_NOPROXY, "*");
    if (target->ca)
        api->easy_setopt(curl, CURLOPT_CAINFO, target->ca);
}

static struct curl_slist *headers_of(const struct curl_api *api, const struct upload_target *target,
                                     const char *type, bool packed, struct upload_answer *out)
{
    char line[160];
    struct curl_slist *list = NULL, *longer;

    snprintf(line, sizeof line, "Content-Type: %s", type);
    list = api->slist_append(NULL, line);
    longer = list ? api->slist_append(list, "Expect:") : NULL;
    longer = longer && packed ? api->slist_append(list, "Content-Encoding: gzip") : longer;
    if (!longer)
        snprintf(out->why, sizeof out->why, "%s", strerror(ENOMEM));
    if (longer &&
        (!target->headers || add_headers(api, &list, target->headers, out->why, sizeof out->why)))
        return list;
    api->slist_free_all(list);
    return NULL;
}

void upload_send(struct upload_answer *out, const struct upload_target *target, const char *path,
                 const char *type, bool packed)
{
    const char *cause = NULL;
    const struct curl_api *api = curl_api_load(&cause);
    struct said said = { .size = 0 };
    struct curl_slist *list;
    struct stat file;
    FILE *from;
    CURL *curl;

    *out = (struct upload_answer){ .result = UPLOAD_LATER };
    if (!api) {
        snprintf(out->why, sizeof out->why, "%s", cause);
        return;
    }
    from = fopen(path, "re");
    curl = api->easy_init();
    list = headers_of(api, target, type, packed, out);
    if (!from || fstat(fileno(from), &file) != 0) {
        snprintf(out->why, sizeof out->why, "%s", strerror(errno));
    } else if (curl && list) {
        set_up(api, curl, target, list, from, file.st_size, &said);
        judge(api, out, curl, api->easy_perform(curl), &said);
    }
    if (from)
        fclose(from);
    api->slist_free_all(list);
    api->easy_cleanup(curl);
}
