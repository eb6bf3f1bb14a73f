#include "support/json_schema.h"

#include <regex.h>
#include <stdio.h>
#include <string.h>

struct judge {
    json_t *root;
    char *why;
    size_t size;
};

static bool judge(const struct judge *j, json_t *schema, json_t *value, const char *path);

static bool fail(const struct judge *j, const char *path, const char *what, const char *detail)
{
    snprintf(j->why, j->size, "%s: %s %s", path[0] ? path : "/", what, detail);
    return false;
}

static bool is_type(json_t *value, const char *name)
{
    static const struct {
        const char *name;
        json_type type;
    } types[] = { { "object", JSON_OBJECT },
                  { "array", JSON_ARRAY },
                  { "string", JSON_STRING },
                  { "integer", JSON_INTEGER } };

    for (size_t i = 0; i < sizeof types / sizeof *types; i++)
        if (strcmp(types[i].name, name) == 0)
            return json_typeof(value) == types[i].type;
    return strcmp(name, "boolean") == 0 && json_is_boolean(value);
}

static bool matches(const char *text, const char *pattern)
{
    regex_t r;
    bool good;

    if (regcomp(&r, pattern, REG_EXTENDED | REG_NOSUB) != 0)
        return false;
    good = regexec(&r, text, 0, NULL, 0) == 0;
    regfree(&r);
    return good;
}

static bool is_one_of(json_t *list, json_t *value)
{
    size_t i;
    json_t *one;

    json_array_foreach(list, i, one) if (json_equal(one, value)) return true;
    return false;
}

/* "#/definitions/NAME" */
static json_t *find(const struct judge *j, const char *reference)
{
    static const char start[] = "#/definitions/";

    if (strncmp(reference, start, strlen(start)) != 0)
        return NULL;
    return json_object_get(json_object_get(j->root, "definitions"), reference + strlen(start));
}

static bool judge_object(const struct judge *j, json_t *schema, json_t *value, const char *path)
{
    json_t *properties = json_object_get(schema, "properties");
    json_t *others = json_object_get(schema, "additionalProperties");
    json_t *names = json_object_get(schema, "propertyNames");
    const char *key;
    json_t *one;
    size_t i;

    json_array_foreach(
        json_object_get(schema, "required"), i,
        one) if (!json_object_get(value,
                                  json_string_value(one))) return fail(j, path, "lacks",
                                                                       json_string_value(one));
    json_object_foreach(value, key, one)
    {
        json_t *own = json_object_get(properties, key);
        json_t *name = json_string(key);
        char below[512];
        bool good = true;

        snprintf(below, sizeof below, "%s/%s", path, key);
        if (names)
            good = judge(j, names, name, below);
        json_decref(name);
        if (!own && json_is_false(others))
            return fail(j, below, "is no property", "");
        if (!good || ((own || others) && !judge(j, own ? own : others, one, below)))
            return false;
    }
    return true;
}

static bool judge_items(const struct judge *j, json_t *schema, json_t *value, const char *path)
{
    json_t *items = json_object_get(schema, "items");
    json_t *one;
    size_t i;

    json_array_foreach(value, i, one)
    {
        char below[512];

        snprintf(below, sizeof below, "%s/%zu", path, i);
        if (items && !judge(j, items, one, below))
            return false;
    }
    return true;
}

static bool judge_keyword(const struct judge *j, const char *key, json_t *rule, json_t *value,
                          const char *path)
{
    static const char *const elsewhere[] = { "$schema",  "title",       "description",
                                             "required", "properties",  "additionalProperties",
                                             "items",    "definitions", "propertyNames" };
    const char *text = json_string_value(value);

    for (size_t i = 0; i < sizeof elsewhere / sizeof *elsewhere; i++)
        if (strcmp(elsewhere[i], key) == 0)
            return true;
    if (strcmp(key, "type") == 0)
        return is_type(value, json_string_value(rule)) ||
               fail(j, path, "is no", json_string_value(rule));
    if (strcmp(key, "const") == 0)
        return json_equal(rule, value) || fail(j, path, "is another constant", "");
    if (strcmp(key, "enum") == 0)
        return is_one_of(rule, value) ||
               fail(j, path, "is none of those allowed:", text ? text : "");
    if (strcmp(key, "minimum") == 0)
        return json_integer_value(value) >= json_integer_value(rule) ||
               fail(j, path, "is too small", "");
    if (strcmp(key, "minLength") == 0)
        return (text && strlen(text) >= (size_t)json_integer_value(rule)) ||
               fail(j, path, "is too short", "");
    if (strcmp(key, "pattern") == 0)
        return (text && matches(text, json_string_value(rule))) ||
               fail(j, path, "does not match:", text ? text : "");
    if (strcmp(key, "$ref") == 0) {
        json_t *found = find(j, json_string_value(rule));

        return found ? judge(j, found, value, path) : fail(j, path, "no definition", key);
    }
    return fail(j, path, "a keyword that this validator does not know:", key);
}

static bool judge(const struct judge *j, json_t *schema, json_t *value, const char *path)
{
    const char *key;
    json_t *rule;

    json_object_foreach(schema, key,
                        rule) if (!judge_keyword(j, key, rule, value, path)) return false;
    if (json_is_object(value))
        return judge_object(j, schema, value, path);
    return !json_is_array(value) || judge_items(j, schema, value, path);
}

bool json_keeps_to(json_t *schema, json_t *value, char *why, size_t size)
{
    const struct judge j = { schema, why, size };

    return judge(&j, schema, value, "");
}
