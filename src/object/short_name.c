#include "object/short_name.h"

#include <ctype.h>
#include <stdbool.h>
#include <stddef.h>
#include <string.h>

static bool starts(const char *text, const char *with)
{
    return strncmp(text, with, strlen(with)) == 0;
}

/* Bytes of the name of an operator, with brackets that are none; 0: that is something else. */
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

/* @return the bracket that closes the one at `open`; NULL: none does */
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

/* A bracket that names something rather than hold arguments: the text in it is kept. */
static bool is_kept(const char *at, const char *name)
{
    return starts(at, "(anonymous namespace)") || (*at == '<' && at == name) ||
           starts(at, "<impl ");
}

/* Whether each bracket that would be cut is closed. */
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

/* Bytes that stay together as they are. */
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
    char *to = name; /* never behind `from`: what is looked at is as it was */

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
