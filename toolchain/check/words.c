#include "toolchain/check/words.h"

#include <inttypes.h>
#include <stdarg.h>
#include <stdio.h>

#include <sfb/abi.h>

struct text {
    char *at, *end;
};

__attribute__((format(printf, 2, 3))) static void put(struct text *t, const char *format, ...)
{
    va_list arguments;
    int n;

    va_start(arguments, format);
    n = vsnprintf(t->at, (size_t)(t->end - t->at), format, arguments);
    va_end(arguments);
    if (n > 0)
        t->at += n < t->end - t->at ? n : t->end - t->at - 1;
}

static void put_register(struct text *t, uint8_t number, uint8_t abi)
{
    static const char *const amd64[] = { "rax", "rdx", "rcx", "rbx", "rsi", "rdi", "rbp", "rsp" };

    if (abi == SFB_ABI_AMD64_LE && number < sizeof amd64 / sizeof *amd64)
        put(t, "%s", amd64[number]);
    else
        put(t, "%s%u",
            abi == SFB_ABI_AMD64_LE                                  ? "r"
            : abi == SFB_ABI_AARCH64_LE || abi == SFB_ABI_AARCH64_BE ? "x"
                                                                     : "reg",
            number);
}

static void put_base(struct text *t, const struct sfb_rule *r, uint8_t abi)
{
    if (r->cfa_base == SFB_BASE_REG)
        put_register(t, r->cfa_reg, abi);
    else
        put(t, "%s", r->cfa_base == SFB_BASE_SP ? "sp" : "fp");
}

static void put_saved(struct text *t, const char *name, const struct sfb_saved *saved,
                      const char *unmoved, uint8_t abi)
{
    put(t, ", %s ", name);
    switch (saved->where) {
    case SFB_WHERE_CFA: put(t, "at CFA%+" PRId32, saved->offset); break;
    case SFB_WHERE_IS_CFA: put(t, "= CFA%+" PRId32, saved->offset); break;
    case SFB_WHERE_AT_REG:
    case SFB_WHERE_IS_REG:
        put(t, "%s ", saved->where == SFB_WHERE_AT_REG ? "at" : "=");
        put_register(t, saved->reg, abi);
        put(t, "%+" PRId32, saved->offset);
        break;
    default: put(t, "%s", unmoved); break;
    }
}

void rule_words(char *out, const struct sfb_rule *rule, uint8_t abi)
{
    struct text t = { out, out + RULE_WORDS_SIZE };

    if (rule->flags & SFB_RULE_OUTERMOST) {
        put(&t, "RA undefined (no caller)");
        return;
    }
    put(&t, rule->flags & SFB_RULE_CFA_DEREF ? "CFA = *(" : "CFA = ");
    put_base(&t, rule, abi);
    put(&t, "%+" PRId32, rule->cfa_offset);
    if (rule->flags & SFB_RULE_CFA_DEREF)
        put(&t, ")%+" PRId32, rule->cfa_add);
    put_saved(&t, "RA", &rule->ra, "in its register", abi);
    if (rule->flags & SFB_RULE_RA_SIGNED)
        put(&t, " (signed)");
    put_saved(&t, "FP", &rule->fp, "unchanged", abi);
    if (rule->sp.where != SFB_WHERE_UNSAVED)
        put_saved(&t, "SP", &rule->sp, "unchanged", abi);
    if (rule->flags & SFB_RULE_SIGNAL)
        put(&t, ", signal frame");
}
