#include "symbols/short_name.h"

#include <ctype.h>
#include <stdbool.h>
#include <stddef.h>
#include <string.h>

static bool starts(const char *text, const char *with)
{
    return strncmp(text, with, strlen(with)) == 0;
}

/* Bytes of an operator's name, with characters that look like brackets; 0: not an operator. */
static size_t operator_size(const char *at, const char *name)
{
    static const char *const signs[] = { "<=>", "<<=", ">>=", "->*", "<<", ">>",
                                         "<=",  ">=",  "->",  "<",   ">",  "()" };
    const size_t word = strlen("operator");

    if (!starts(at, "operator") || (at > name && (isalnum((unsigned char)at[-1]) || at[-1] == '_')))
        return 0;
    for (size_t i = 0; i < sizeof signs / sizeof *signs; i++)
        if (starts(at + word, signs[i]))
            return word + strlen(signs[i]);
    return 0;
}

/* @return the bracket that closes the one at `open`; NULL: unmatched */
static const char *find_close(const char *open, const char *name)
{
    const bool angle = *open == '<';
    size_t round = 0, angles = 0;

    for (const char *at = open; *at; at++) {
        const size_t skip = operator_size(at, name);

        if (skip > 0)
            at += skip - 1;
        else if (*at == '(')
            round++;
        else if (*at == ')') {
            if (round == 0)
                return NULL;
            if (--round == 0 && !angle)
                return at;
        } else if (*at == '<' && angle && round == 0)
            angles++;
        else if (*at == '>' && angle && round == 0 && at[-1] != '-' && --angles == 0)
            return at;
    }
    return NULL;
}

/* A bracket that names something instead of holding arguments: it is kept. */
static bool is_kept(const char *at, const char *name)
{
    return starts(at, "(anonymous namespace)") || (*at == '<' && at == name) ||
           starts(at, "<impl ");
}

/* Whether every bracket to cut is closed. */
static bool can_be_cut(const char *name)
{
    for (const char *at = name; *at; at++) {
        const size_t skip = operator_size(at, name);
        const char *close;

        if (skip > 0) {
            at += skip - 1;
        } else if (*at == '(' || *at == '<') {
            close = find_close(at, name);
            if (!close)
                return false;
            at = is_kept(at, name) ? at : close;
        }
    }
    return true;
}

/* Bytes that are kept together. */
static size_t kept_size(const char *at, const char *name)
{
    const char *const unnamed = "(anonymous namespace)";
    const size_t skip = operator_size(at, name);

    if (skip > 0)
        return skip;
    return starts(at, unnamed) ? strlen(unnamed) : 1;
}

void object_shorten_name(char *name)
{
    const char *from = name;
    char *to = name; /* never passes `from` */

    if (!can_be_cut(name))
        return;
    while (*from) {
        const size_t kept = kept_size(from, name);
        const bool cut = kept == 1 && (*from == '(' || *from == '<') && !is_kept(from, name);
        const char *close = cut ? find_close(from, name) : NULL;

        memmove(to, from, kept);
        to += kept;
        from += kept;
        if (close) {
            const size_t inside = (size_t)(close - from);

            memmove(to, inside > 3 ? "..." : from, inside > 3 ? 3 : inside);
            to += inside > 3 ? 3 : inside;
            from = close;
        }
    }
    *to = '\0';
}

/*
 * --- minimal cuts ------------------------------------------------------------------------------
 */

/* The best cut: the smallest of at least `wanted` bytes, else the largest. */
struct choice {
    char *at; /* behind its bracket; NULL: none yet */
    size_t size;
};

static bool is_better(const struct choice *now, size_t size, size_t wanted)
{
    if (!now->at)
        return true;
    return now->size >= wanted ? size >= wanted && size < now->size : size > now->size;
}

static struct choice choose(char *name, size_t wanted)
{
    struct choice best = { NULL, 0 };
    size_t kept;

    for (char *at = name; *at; at += kept) {
        const char *close;
        size_t size;

        kept = kept_size(at, name);
        if (kept > 1 || (*at != '(' && *at != '<') || is_kept(at, name))
            continue;
        close = find_close(at, name);
        size = close ? (size_t)(close - at) - 1 : 0;
        /* Dots are not cut again. */
        if (size > 3 && is_better(&best, size - 3, wanted))
            best = (struct choice){ at + 1, size - 3 };
    }
    return best;
}

/* Bytes of the return type before the name of a function with arguments. */
static size_t type_size(const char *name)
{
    size_t size = 0, kept;

    if (strstr(name, "operator "))
        return 0; /* the name of a conversion operator is a type */
    for (const char *at = name; *at; at += kept) {
        const char *close = *at == '<' || *at == '(' ? find_close(at, name) : NULL;

        kept = kept_size(at, name);
        if (*at == '(' && kept == 1)
            return size;
        if (*at == ' ' && at[1] != '<')
            size = (size_t)(at - name) + 1;
        if (kept == 1 && close)
            kept = (size_t)(close - at) + 1;
    }
    return 0;
}

void object_fit_name(char *name, size_t size)
{
    size_t length = strlen(name), type;

    if (!can_be_cut(name))
        return;
    while (length > size) {
        const struct choice c = choose(name, length - size);

        if (!c.at)
            break;
        memcpy(c.at, "...", 3);
        memmove(c.at + 3, c.at + 3 + c.size, strlen(c.at + 3 + c.size) + 1);
        length -= c.size;
    }
    type = length > size ? type_size(name) : 0;
    memmove(name, name + type, length - type + 1);
}
