#include "util/counted.h"

#include <inttypes.h>
#include <stdbool.h>
#include <stdio.h>
#include <string.h>

/* Bytes of a noun behind a count of at most 20 digits. */
enum { NOUN_MOST = (int)sizeof(struct counted) - 22 };

static bool ends_in(const char *word, size_t size, const char *end)
{
    const size_t n = strlen(end);

    return size > n && memcmp(word + size - n, end, n) == 0;
}

/* @return bytes of a word in the singular; *more is the text behind it */
static size_t singular(const char *word, size_t size, const char **more)
{
    static const char *const cut_two[] = { "sses", "ches", "shes", "xes" };

    *more = "";
    for (size_t i = 0; i < sizeof cut_two / sizeof *cut_two; i++)
        if (ends_in(word, size, cut_two[i]))
            return size - 2;
    if (!ends_in(word, size, "ies"))
        return size - 1;
    *more = "y";
    return size - 3;
}

static size_t word_size(const char *text)
{
    return strcspn(text, " :,;.()");
}

/* @return bytes of a plural verb at the start of a text, at most one; 0: another word */
static size_t verb_size(const char *text, const char **one)
{
    static const char *const verbs[][2] = { { " are", " is" },
                                            { " were", " was" },
                                            { " have", " has" } };

    *one = "";
    for (size_t i = 0; i < sizeof verbs / sizeof *verbs; i++) {
        const size_t n = strlen(verbs[i][0]);

        if (strncmp(text, verbs[i][0], n) != 0 || (text[n] != '\0' && text[n] != ' '))
            continue;
        *one = verbs[i][1];
        return n;
    }
    return 0;
}

struct counted counted_noun(uint64_t count, const char *plural)
{
    struct counted c;
    const char *word = plural, *more, *verb, *rest;
    size_t size = word_size(word), left, skipped;

    while (*word && !(size > 1 && word[size - 1] == 's')) {
        word += size;
        word += *word != '\0';
        size = word_size(word);
    }
    /* A unit ("ms") has no plural. */
    if (count != 1 || size <= 2) {
        snprintf(c.text, sizeof c.text, "%s", plural);
        return c;
    }
    left = singular(word, size, &more);
    rest = word + size;
    skipped = verb_size(rest, &verb);
    snprintf(c.text, sizeof c.text, "%.*s%s%s%s", (int)((size_t)(word - plural) + left), plural,
             more, verb, rest + skipped);
    return c;
}

struct counted counted(uint64_t count, const char *plural)
{
    struct counted c;

    snprintf(c.text, sizeof c.text, "%" PRIu64 " %.*s", count, NOUN_MOST,
             counted_noun(count, plural).text);
    return c;
}
