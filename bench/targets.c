/* What is to be reached, and whether this run did. */
#include <stdio.h>
#include <string.h>

#include "results.h"
#include "situations/situation.h"
#include "table.h"

/* The walks that a target speaks of: where a row with other options is meant, its id goes here. */
#define ADDRESSES PEER_ADDRESSES
#define CBF       PEER_CBF
#define MEMO      PEER_MEMO

#define NOFP    "nofp 32", "nofp 128"
#define FP      "fp 32", "fp 128"
#define FP_DEEP "fp 128", "fp 1000"
#define DEEP    "nofp 128", "nofp 1000"

/* A figure of at most a limit, and at most a part of a peer's; 0: not asked for. */
static const struct target {
    const char *text;
    const char *situation;
    double scale; /* of ns a frame, to what the limit is in */
    enum peer_id walk;
    double limit, ratio;
    enum peer_id peer;
    const char *columns[5];
} targets[] = {
#define TARGET(text, situation, ...)                                                               \
    {                                                                                              \
        text, situation, 1, __VA_ARGS__                                                            \
    }
#define UNW PEER_UNW_BACKTRACE
    TARGET("addresses only, call", "call", ADDRESSES, 4.0, 0.65, UNW, { NOFP }),
    TARGET("... 40 times faster than glibc", "call", ADDRESSES, 0, 1.0 / 40, PEER_GLIBC, { NOFP }),
    TARGET("CBF written, call", "call", CBF, 5.5, 0.9, UNW, { NOFP }),
    TARGET("frame-pointer code, call", "call", ADDRESSES, 1.6, 1.5, PEER_FP_CHECKED, { FP }),
    TARGET("repeated stack", "call", MEMO, 1.2, 1.0, PEER_FP_MINIMAL, { FP, "fp 1000" }),
    TARGET("repeated stack", "call", MEMO, 1.2, 1.0, PEER_FP_MINIMAL, { NOFP, "nofp 1000" }),
    TARGET("eight opened libraries", "plugins", ADDRESSES, 0, 1.0, UNW,
           { "fp 8", "fp 32", "nofp 8", "nofp 32" }),
    TARGET("eight opened libraries", "plugins", ADDRESSES, 0, 0.6, UNW, { "fp 128", "nofp 128" }),
    TARGET("... with a memo", "plugins", MEMO, 0, 0.5, UNW, { "fp 32", "nofp 32" }),
    TARGET("... CBF", "plugins", CBF, 0, 1.3, PEER_ADDRESSES,
           { "fp 8", "fp 32", "nofp 8", "nofp 32", "nofp 128" }),
    TARGET("innermost 0-14 varying", "vary", MEMO, 1.8, 1.2, PEER_FP_CHECKED, { FP_DEEP, DEEP }),
    TARGET("64 stacks", "div", ADDRESSES, 7.5, 0.75, UNW, { NOFP }),
    TARGET("64 stacks, as fibers", "div-fibers", PEER_LENT, 7.5, 0.75, UNW, { NOFP }),
    TARGET("uncached pc, .sframe", "call", PEER_UNCACHED, 40, 0, PEER_COUNT, { NOFP }),
    TARGET("uncached pc, .eh_frame", "bare", PEER_UNCACHED, 400, 0.25, PEER_UNW_UNCACHED, { NOFP }),
    TARGET("memo and hash", "hash", PEER_HASH, 0, 1.15, PEER_MEMO, { "nofp 64", "fp 64" }),
    { "first walk of a thread, us in all",
      "thread-1",
      128 / 1000.0,
      ADDRESSES,
      6,
      1.0 / 50,
      UNW,
      { "nofp 128" } },
};

static void print(bool good, const char *text, const char *column, double figure, double limit)
{
    printf("%-7s %-42s %-9s %9.2f", good ? "met" : "MISSED", text, column, figure);
    if (limit > 0) {
        printf(" (%6.2f)", limit);
    } else {
        printf(" %8s", "");
    }
}

static void print_target(const struct target *t, const char *column)
{
    const struct result *ours = result_find(t->situation, column, peers[t->walk].name);
    char fp[RESULT_NAME];
    double ratio = 0;

    if (ours == NULL) {
        if (result_of(t->situation) != NULL) {
            printf("skipped %-42s %s\n", t->text, column);
        }
        return;
    }

    double figure = result_spread(ours).median * t->scale;

    if (t->ratio > 0) {
        bool other = peers[t->peer].needs_fp;

        ratio = result_ratio(ours,
                             result_find(t->situation, other ? table_fp_column(column, fp) : column,
                                         peers[t->peer].name));
    }
    print((t->limit <= 0 || figure <= t->limit) && (t->ratio <= 0 || ratio <= t->ratio), t->text,
          column, figure, t->limit);
    if (t->ratio > 0 && ratio > 0) {
        printf("  %7.3f (%5.3f) of %s", ratio, t->ratio, peers[t->peer].name);
    }
    printf("\n");
}

/* Targets of figures that no peer has. */
static void print_others(void)
{
    static const char memory[] = "writable data, a process";
    const struct result *data = result_find("memory", "KiB", memory);

    for (size_t i = 0; i < result_count; i++) {
        if (strcmp(results[i].situation, "encoder") == 0 &&
            strcmp(results[i].column, "ns a frame") == 0) {
            double median = result_spread(&results[i]).median;
            char text[2 * RESULT_NAME];

            snprintf(text, sizeof text, "encoder alone: %s", results[i].row);
            print(median <= 2.5, text, "", median, 2.5);
            printf("\n");
        }
    }
    if (data != NULL) {
        double kib = result_spread(data).median;

        print(kib <= 256, "caches and indexes, KiB a process", "", kib, 256);
        printf("\n");
    }
}

/* A memo is never to cost more than this part more than none, wherever both were measured. */
#define MEMO_RATIO_MAX 1.1

static void print_memo(enum peer_id with, enum peer_id without)
{
    const struct result *worst = NULL;
    double worst_ratio = 0;
    unsigned count = 0;

    for (size_t i = 0; i < result_count; i++) {
        const struct result *one = &results[i];

        if (strcmp(one->row, peers[with].name) != 0) {
            continue;
        }

        double ratio =
            result_ratio(one, result_find(one->situation, one->column, peers[without].name));

        if (ratio <= 0) {
            continue;
        }
        count++;
        if (ratio > MEMO_RATIO_MAX) {
            printf("MISSED  %s: %s, %s: %.3f (%.3f) of %s\n", peers[with].name, one->situation,
                   one->column, ratio, MEMO_RATIO_MAX, peers[without].name);
        }
        if (ratio > worst_ratio) {
            worst_ratio = ratio;
            worst = one;
        }
    }
    if (worst != NULL && worst_ratio <= MEMO_RATIO_MAX) {
        printf("met     %s: at most %.3f (%.3f) of %s, in %u rows; that is %s, %s\n",
               peers[with].name, worst_ratio, MEMO_RATIO_MAX, peers[without].name, count,
               worst->situation, worst->column);
    }
}

void targets_print(void)
{
    printf("\nTargets: figure (at most), ratio (at most)\n\n");
    for (size_t i = 0; i < sizeof targets / sizeof *targets; i++) {
        for (size_t c = 0; c < 5 && targets[i].columns[c] != NULL; c++) {
            print_target(&targets[i], targets[i].columns[c]);
        }
    }
    print_memo(PEER_MEMO, PEER_LENT);
    print_memo(PEER_SKIP, PEER_LENT_SKIP);
    print_memo(PEER_CBF_MEMO, PEER_CBF_LENT);
    print_others();
}
