/*
 * A receiver of uploads, as the test of sfb record --every wants it: `receiver PORT LOG [ANSWER...]` writes its port into a file, then
 * answers each POST by the next word: a status, or "drop", which is no answer; after the last one 200. A line in the log for
 * each: the answer, the path, the Authorization header or -, and a hash of the body.
 */
#include <arpa/inet.h>
#include <inttypes.h>
#include <netinet/in.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>
#include <sys/socket.h>
#include <unistd.h>

enum { HEAD = 8192 };

static uint64_t hash_body(FILE *from, long size)
{
    uint64_t hash = 0xcbf29ce484222325U;

    for (long i = 0; i < size; i++) {
        const int c = getc(from);

        if (c == EOF)
            return 0;
        hash = (hash ^ (uint64_t)c) * 0x100000001b3U;
    }
    return hash;
}

/* @return false: the sender is gone */
static int serve(int fd, FILE *log, const char *answer)
{
    FILE *from = fdopen(fd, "r+");
    char line[HEAD], path[HEAD] = "", word[HEAD] = "-";
    long size = 0;
    uint64_t hash;

    if (!from || !fgets(line, sizeof line, from) || sscanf(line, "POST %8000s", path) != 1)
        return 0;
    while (fgets(line, sizeof line, from) && line[0] != '\r') {
        if (strncasecmp(line, "content-length:", 15) == 0)
            size = strtol(line + 15, NULL, 10);
        if (strncasecmp(line, "authorization:", 14) == 0 &&
            sscanf(line + 14, " %8000[^\r\n]", word) == 1)
            for (char *c = word; *c; c++)
                *c = *c == ' ' ? '_' : *c;
    }
    hash = hash_body(from, size);
    if (strcmp(answer, "drop") != 0) {
        fseek(from, 0, SEEK_CUR);
        fprintf(from, "HTTP/1.1 %s x\r\n%sContent-Length: 3\r\nConnection: close\r\n\r\nno\x1b",
                answer, strcmp(answer, "429") == 0 ? "Retry-After: 1\r\n" : "");
        fflush(from);
    }
    fprintf(log, "%s %s %s %016" PRIx64 "\n", answer, path, word, hash);
    fclose(from);
    return 1;
}

int main(int count, char **words)
{
    const int listener = socket(AF_INET, SOCK_STREAM, 0);
    struct sockaddr_in at = { .sin_family = AF_INET, .sin_addr = { htonl(INADDR_LOOPBACK) } };
    socklen_t size = sizeof at;
    FILE *port = count > 2 ? fopen(words[1], "w") : NULL,
         *log = count > 2 ? fopen(words[2], "a") : NULL;
    int next = 3;

    if (!port || !log || listener < 0 || bind(listener, (struct sockaddr *)&at, sizeof at) != 0 ||
        listen(listener, 16) != 0 || getsockname(listener, (struct sockaddr *)&at, &size) != 0)
        return 1;
    setvbuf(log, NULL, _IOLBF, 0);
    fprintf(port, "%d\n", ntohs(at.sin_port));
    fclose(port);
    for (int fd; (fd = accept(listener, NULL, NULL)) >= 0;)
        if (serve(fd, log, next < count ? words[next] : "200") && next < count)
            next++;
    return 1;
}
