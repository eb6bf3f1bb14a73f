#include "symbols/bare_name.h"

#include <ctype.h>
#include <stdbool.h>
#include <stddef.h>
#include <string.h>

static bool starts(const char *text, const char *with)
{
    return strncmp(text, with, strlen(with)) == 0;
}

/* The input position, and the output, which never passes `at`. */
struct cut {
    char *name, *to;
    const char *at;
    bool typed; /* it has parameters, and so maybe a return type before it */
};

static void keep(struct cut *c, size_t size)
{
    memmove(c->to, c->at, size);
    c->to += size;
    c->at += size;
}

static bool is_kept_last(const struct cut *c, const char *word)
{
    const size_t size = strlen(word);

    return (size_t)(c->to - c->name) >= size && memcmp(c->to - size, word, size) == 0;
}

/* Bytes from a bracket to its closing one, or to the name's end. */
static size_t bracket_size(const char *open)
{
    static const char pairs[] = "(){}[]<>";
    const char closing = strchr(pairs, *open)[1];
    const bool angle = *open == '<';
    size_t depth = 0, round = 0;
    const char *at = open;

    for (; *at; at++) {
        if (angle && *at == '(')
            round++;
        else if (angle && *at == ')')
            round -= round > 0;
        else if (angle && (round > 0 || (at > open && *at == '>' && at[-1] == '-')))
            continue;
        else if (*at == *open)
            depth++;
        else if (*at == closing && --depth == 0)
            return (size_t)(at - open) + 1;
    }
    return (size_t)(at - open);
}

/* --- Operators ---------------------------------------------------------------------------------- */

static bool is_operator(const struct cut *c)
{
    const size_t size = strlen("operator");
    const bool begins =
        c->to == c->name || !(isalnum((unsigned char)c->to[-1]) || c->to[-1] == '_');

    return begins && starts(c->at, "operator") && !isalnum((unsigned char)c->at[size]) &&
           c->at[size] != '_';
}

/* "operator<<", "operator()", "operator unsigned long". */
static void keep_operator(struct cut *c)
{
    static const char *const signs[] = { "<=>", "<<=", ">>=", "->*", "<<", ">>", "<=",
                                         ">=",  "->",  "<",   ">",   "()", "[]" };

    keep(c, strlen("operator"));
    for (size_t i = 0; i < sizeof signs / sizeof *signs; i++)
        if (starts(c->at, signs[i])) {
            keep(c, strlen(signs[i]));
            return;
        }
    if (*c->at == ' ')
        while (*c->at && *c->at != '(')
            keep(c, *c->at == '<' ? bracket_size(c->at) : 1);
    else
        keep(c, strspn(c->at, "+-*/%^&|~!=,"));
}

/* --- Brackets ----------------------------------------------------------------------------------- */

/* Removes template arguments; keeps the type of a Rust implementation. */
static void take_angle(struct cut *c)
{
    const size_t size = bracket_size(c->at);

    if (c->to == c->name || starts(c->at, "<impl ")) {
        keep(c, size);
        return;
    }
    c->at += size;
    if (is_kept_last(c, "::")) /* f::<u8> */
        c->to -= 2;
}

/* Removes parameters. @return false: the name ends with them */
static bool take_round(struct cut *c)
{
    static const char unnamed[] = "(anonymous namespace)";
    static const char *const behind[] = { "::", " const::", " volatile::", " const volatile::",
                                          "[" };
    const size_t size = bracket_size(c->at);

    if (starts(c->at, unnamed)) {
        keep(c, strlen(unnamed));
        return true;
    }
    if (is_kept_last(c, "decltype")) {
        c->at += size;
        return true;
    }
    for (size_t i = 0; i < sizeof behind / sizeof *behind; i++)
        if (starts(c->at + size, behind[i])) {
            c->at += size + strlen(behind[i]) - (i < 4 ? 2 : 1);
            return true;
        }
    return false;
}

/* A compiler's suffix for a copy of a function. */
static bool is_suffix(const char *at)
{
    static const char *const suffixes[] = { ".constprop", ".isra", ".part",   ".cold",
                                            ".lto_priv",  ".llvm", ".__uniq", ".clone" };

    for (size_t i = 0; i < sizeof suffixes / sizeof *suffixes; i++)
        if (starts(at, suffixes[i]))
            return true;
    return starts(at, " [clone");
}

/* --- All of it ---------------------------------------------------------------------------------- */

/* A space: the text before it is the return type, unless arguments follow. */
static void take_space(struct cut *c)
{
    if (!c->typed) {
        keep(c, 1);
        return;
    }
    c->at++;
    if (*c->at != '<')
        c->to = c->name;
}

void object_bare_name(char *name)
{
    struct cut c = { name, name, name, strchr(name, '(') != NULL };

    while (*c.at) {
        if (c.at > name && is_suffix(c.at))
            break;
        if (is_operator(&c))
            keep_operator(&c);
        else if (starts(c.at, "[abi:"))
            c.at += bracket_size(c.at);
        else if (*c.at == '<')
            take_angle(&c);
        else if (*c.at == '{')
            keep(&c, bracket_size(c.at));
        else if (*c.at == ' ')
            take_space(&c);
        else if (*c.at != '(')
            keep(&c, 1);
        else if (!take_round(&c))
            break;
    }
    *c.to = '\0';
}

const char *object_last_name(const char *bare)
{
    const char *last = bare;

    for (const char *at = bare; *at;) {
        if (starts(at, "operator") && (at == bare || at[-1] == ':'))
            break;
        if (*at == '<' || *at == '{' || *at == '(') {
            at += bracket_size(at);
        } else if (at[0] == ':' && at[1] == ':') {
            at += 2;
            last = at;
        } else {
            at++;
        }
    }
    return last;
}
