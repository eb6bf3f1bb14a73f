#include "util/labels.h"

#include <stdint.h>
#include <stdlib.h>
#include <string.h>

enum { KEY_MOST = 255, ALL_MOST = 1 << 16 };

static bool is_letter(char c)
{
    return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || c == '_';
}

static bool is_key(const char *text, size_t size)
{
    if (size == 0 || size > KEY_MOST || !is_letter(text[0]))
        return false;
    for (size_t i = 1; i < size; i++)
        if (!is_letter(text[i]) && (text[i] < '0' || text[i] > '9') && text[i] != '.' &&
            text[i] != '-')
            return false;
    return true;
}

const char *labels_next(const struct labels *labels, const char *label)
{
    const char *next = label ? label + strlen(label) + 1 : labels->text;

    return labels->text && next < labels->text + labels->size ? next : NULL;
}

/* @return the label of a key */
static char *find(const struct labels *labels, const char *key, size_t size)
{
    for (const char *l = labels_next(labels, NULL); l; l = labels_next(labels, l))
        if (strncmp(l, key, size) == 0 && l[size] == '=')
            return labels->text + (l - labels->text);
    return NULL;
}

static bool append(struct labels *labels, const char *label, size_t size)
{
    char *text =
        labels->size + size < ALL_MOST ? realloc(labels->text, labels->size + size + 1) : NULL;

    if (!text)
        return false;
    memcpy(text + labels->size, label, size);
    text[labels->size + size] = '\0';
    labels->text = text;
    labels->size += size + 1;
    return true;
}

static bool put(struct labels *labels, const char *label, size_t size, size_t key)
{
    char *old = find(labels, label, key);

    if (old) {
        const size_t behind = (size_t)(old - labels->text) + strlen(old) + 1;

        memmove(old, labels->text + behind, labels->size - behind);
        labels->size = (size_t)(old - labels->text) + labels->size - behind;
    }
    return append(labels, label, size);
}

const char *labels_parse(struct labels *labels, const char *argument)
{
    for (const char *at = argument;; at++) {
        const size_t size = strcspn(at, ","), key = strcspn(at, "=,");

        if (at[key] != '=' || !is_key(at, key))
            return "is no label: key=value, with letters, digits, _, . and - in the key";
        if (!put(labels, at, size, key))
            return "does not fit: labels have 64 KiB";
        at += size;
        if (*at == '\0')
            return NULL;
    }
}

bool labels_add(struct labels *labels, const char *text, size_t size)
{
    for (size_t at = 0; at < size;) {
        const size_t length = strnlen(text + at, size - at);
        const char *sign = memchr(text + at, '=', length);

        if (sign && is_key(text + at, (size_t)(sign - text) - at) &&
            labels->size + length < ALL_MOST &&
            !put(labels, text + at, length, (size_t)(sign - text) - at))
            return false;
        at += length + 1;
    }
    return true;
}

const char *labels_value(const struct labels *labels, const char *key)
{
    const size_t size = strlen(key);
    const char *label = find(labels, key, size);

    return label ? label + size + 1 : NULL;
}

void labels_free(struct labels *labels)
{
    free(labels->text);
    *labels = (struct labels){ .text = NULL };
}
