#include "table.h"

static double ns_frame(const struct cell *cell)
{
    return cell->ns.median / cell->frames;
}

static void print_ratio(const struct cell *other, const struct cell *cell)
{
    if (other->peer == NULL) {
        printf(" %8s", "-");
    } else {
        printf(" %7.2fx", other->ns.median / cell->ns.median);
    }
}

static void print_half(const struct cell *row, unsigned peer)
{
    const struct cell *cell = &row[peer];
    char quartiles[64];

    if (cell->peer == NULL) {
        printf(" | %8s %8s %15s %8s %8s", "-", "-", "-", "-", "-");
        return;
    }
    snprintf(quartiles, sizeof quartiles, "%.2f..%.2f", cell->ns.low / cell->frames,
             cell->ns.high / cell->frames);
    printf(" | %8.0f %8.2f %15s", cell->ns.median / cell->stacks, ns_frame(cell), quartiles);
    print_ratio(&row[PEER_GLIBC], cell);
    print_ratio(&row[PEER_UNW_BACKTRACE], cell);
}

static void print_encoder(const struct measurement *m)
{
    printf("\nThe CBF encoder alone, each stack from init to end:\n\n");
    printf("%-24s %7s %8s | %8s %8s %15s | %8s\n", "stacks", "stacks", "frames", "ns/stack",
           "ns/frame", "quartiles", "bytes/fr");
    for (unsigned i = 0; i < m->encoded_count; i++) {
        const struct cell *cell = &m->encoder[i];
        const struct stacks *stacks = &m->encoded[i];
        char quartiles[64];

        snprintf(quartiles, sizeof quartiles, "%.2f..%.2f", cell->ns.low / cell->frames,
                 cell->ns.high / cell->frames);
        printf("%-24s %7zu %8zu | %8.0f %8.2f %15s | %8.2f\n", stacks->name, stacks->stack_count,
               stacks->frame_count, cell->ns.median / cell->stacks, ns_frame(cell), quartiles,
               (double)stacks->cbf_size / cell->frames);
    }
}

void table_print(const struct measurement *m)
{
    printf("%u batches of at least %.2f ms each, round-robin; medians, and the quartiles of "
           "ns/frame.\n"
           "glibc/: how many times faster than glibc's backtrace() in this run; unw_bt/: than\n"
           "unw_backtrace(). 128*: 64 different stacks in turn, one walk each.\n\n",
           m->samples, (double)m->batch_ns / 1e6);
    printf("%-31s | %-51s | %s\n", "", "with frame pointers", "without frame pointers");
    printf("%-5s %-25s", "depth", "walk");
    for (int half = 0; half < CHAIN_BUILDS; half++) {
        printf(" | %8s %8s %15s %8s %8s", "ns/stack", "ns/frame", "quartiles", "glibc/", "unw_bt/");
    }
    printf("\n");
    for (unsigned s = 0; s < MEASURE_DEPTHS; s++) {
        for (unsigned p = 0; p < PEER_COUNT; p++) {
            char depth[16];

            snprintf(depth, sizeof depth, "%d%s", situations[s].depth,
                     situations[s].varied ? "*" : "");
            printf("%-5s %-25s", depth, peers[p].name);
            for (enum chain_build b = 0; b < CHAIN_BUILDS; b++) {
                print_half(m->walks[b][s], p);
            }
            printf("\n");
        }
    }
    print_encoder(m);
}

static void print_target(const char *what, double reached, const char *unit, bool good)
{
    printf("%-8s %-76s %8.2f %s\n", good ? "reached" : "missed", what, reached, unit);
}

static const char *build_name(enum chain_build build)
{
    return build == CHAIN_FP ? "frame pointers" : "no frame pointers";
}

void table_targets(const struct measurement *m)
{
    char what[128];

    printf("\nTargets:\n\n");
    for (unsigned s = 0; s < MEASURE_DEPTHS; s++) {
        for (enum chain_build b = 0; b < CHAIN_BUILDS; b++) {
            const struct cell *row = m->walks[b][s];
            int depth = situations[s].depth;
            double ns = ns_frame(&row[PEER_CBF]);
            double ratio = row[PEER_GLIBC].ns.median / row[PEER_CBF].ns.median;

            if (depth != 32 && depth != 128) {
                continue;
            }
            snprintf(what, sizeof what, "at most 50 ns a frame: depth %d%s, %s", depth,
                     situations[s].varied ? " (64 stacks)" : "", build_name(b));
            print_target(what, ns, "ns", ns <= 50);
            snprintf(what, sizeof what,
                     "at least 3 times faster than glibc's backtrace(): depth %d%s, %s", depth,
                     situations[s].varied ? " (64 stacks)" : "", build_name(b));
            print_target(what, ratio, "times", ratio >= 3);
        }
    }
    for (unsigned i = 0; i < m->encoded_count; i++) {
        double ns = ns_frame(&m->encoder[i]);

        snprintf(what, sizeof what, "encoder at most 5 ns a frame: %s", m->encoded[i].name);
        print_target(what, ns, "ns", ns <= 5);
    }
}
