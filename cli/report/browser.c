#include "cli/report/browser.h"

#include <errno.h>
#include <fcntl.h>
#include <spawn.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

enum { WORDS_MAX = 32 };

/* A word of a command: between blanks, quotes kept together. @param at  moved behind it. @return false: no further one */
static bool next_word(const char **at, const char *end, char *out)
{
    const char *from = *at;
    char quote = '\0';

    while (from < end && strchr(" \t\n", *from))
        from++;
    if (from == end)
        return false;
    for (; from < end && (quote || !strchr(" \t\n", *from)); from++) {
        if (quote ? *from == quote : *from == '"' || *from == '\'')
            quote = quote ? '\0' : *from;
        else
            *out++ = *from;
    }
    *out = '\0';
    *at = from;
    return true;
}

/* A word with the page in place of each %s; %% is a %. @return NULL: no memory */
static char *filled(const char *word, const char *page, bool *used)
{
    char *out = malloc(strlen(word) * (strlen(page) + 1) + 1), *to = out;

    for (; out && *word; word++) {
        if (word[0] == '%' && word[1] == 's') {
            to = stpcpy(to, page);
            *used = true;
            word++;
        } else {
            *to++ = *word;
            word += word[0] == '%' && word[1] == '%';
        }
    }
    if (out)
        *to = '\0';
    return out;
}

/* What it prints is no part of the report. */
static int spawn(char *const *words)
{
    posix_spawn_file_actions_t files;
    posix_spawnattr_t attributes;
    int failure;
    pid_t child;

    posix_spawn_file_actions_init(&files);
    posix_spawn_file_actions_addopen(&files, STDIN_FILENO, "/dev/null", O_RDONLY, 0);
    posix_spawn_file_actions_addopen(&files, STDOUT_FILENO, "/dev/null", O_WRONLY, 0);
    posix_spawn_file_actions_addopen(&files, STDERR_FILENO, "/dev/null", O_WRONLY, 0);
    posix_spawnattr_init(&attributes);
    posix_spawnattr_setflags(&attributes, POSIX_SPAWN_SETSID);
    failure = posix_spawnp(&child, words[0], &files, &attributes, words, environ);
    posix_spawn_file_actions_destroy(&files);
    posix_spawnattr_destroy(&attributes);
    return failure;
}

/* @return 0; why not; ENOENT: there is no word */
static int start(const char *command, const char *end, const char *page)
{
    char *words[WORDS_MAX + 2] = { NULL };
    char *word = malloc((size_t)(end - command) + 1);
    bool used = false;
    size_t count = 0;
    int failure = word ? 0 : ENOMEM;

    while (failure == 0 && next_word(&command, end, word)) {
        if (count == WORDS_MAX)
            failure = E2BIG;
        else if (!(words[count++] = filled(word, page, &used)))
            failure = ENOMEM;
    }
    if (failure == 0 && count == 0)
        failure = ENOENT;
    if (failure == 0 && !used && !(words[count] = strdup(page)))
        failure = ENOMEM;
    if (failure == 0)
        failure = spawn(words);
    for (size_t i = 0; words[i]; i++)
        free(words[i]);
    free(word);
    return failure;
}

int report_browser_start(const char *list, const char *page)
{
    int failure;

    for (;;) {
        const size_t size = strcspn(list, ":");

        failure = start(list, list + size, page);
        if (failure == 0 || list[size] == '\0')
            return failure;
        list += size + 1;
    }
}
