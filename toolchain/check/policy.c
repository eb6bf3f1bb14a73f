#include "toolchain/check/policy.h"

#include <assert.h>
#include <stdlib.h>
#include <string.h>

enum { DEMANDS = 6, OF_A_LEVEL = 100 };

static bool begins(const char *name, const char *word, size_t length)
{
    return length >= 2 && length < CHECK_CODE_SIZE && strncasecmp(name, word, length) == 0;
}

/* Marks the codes of a list. @return NULL, or the word that is no code */
static const char *mark(bool *marked, const char *list)
{
    assert(check_code_count <= POLICY_CODES_MAX);
    for (;;) {
        const size_t length = strcspn(list, ",");
        bool any = false;

        for (size_t i = 0; i < check_code_count; i++) {
            char name[CHECK_CODE_SIZE];

            check_code_name(name, check_codes[i].code);
            if (begins(name, list, length))
                marked[i] = any = true;
        }
        if (!any)
            return list;
        if (list[length] == '\0')
            return NULL;
        list += length + 1;
    }
}

const char *policy_set(struct check_policy *policy, const char *list, enum policy_action action)
{
    bool marked[POLICY_CODES_MAX] = { false };
    const char *wrong = mark(marked, list);

    for (size_t i = 0; !wrong && i < check_code_count; i++)
        if (marked[i])
            policy->action[i] = (uint8_t)action;
    return wrong;
}

const char *policy_only(struct check_policy *policy, const char *list)
{
    bool marked[POLICY_CODES_MAX] = { false };
    const char *wrong = mark(marked, list);

    for (size_t i = 0; !wrong && i < check_code_count; i++)
        if (!marked[i] && check_codes[i].code / OF_A_LEVEL != DEMANDS)
            policy->action[i] = POLICY_IGNORE;
    return wrong;
}

/* "99.5" as 9950. */
static bool read_percent(uint32_t *out, const char *text)
{
    char *end;
    const double value = strtod(text, &end);

    if (end == text || *end != '\0' || !(value >= 0 && value <= 100))
        return false;
    *out = (uint32_t)(value * 100 + 0.5);
    return true;
}

bool policy_min_coverage(struct check_policy *policy, const char *text)
{
    if (strncmp(text, "functions=", 10) == 0)
        return policy->min_functions_set = read_percent(&policy->min_functions, text + 10);
    if (strncmp(text, "bytes=", 6) == 0)
        return policy->min_bytes_set = read_percent(&policy->min_bytes, text + 6);
    return false;
}

bool policy_severity(enum check_severity *severity, const struct check_policy *policy, size_t index)
{
    *severity = check_codes[index].severity;
    if (!policy)
        return true;
    switch ((enum policy_action)policy->action[index]) {
    case POLICY_AS_IT_IS: break;
    case POLICY_NOTE: *severity = CHECK_NOTE; break;
    case POLICY_WARNING: *severity = CHECK_WARNING; break;
    case POLICY_ERROR: *severity = CHECK_ERROR; break;
    case POLICY_IGNORE: return false;
    }
    return true;
}
