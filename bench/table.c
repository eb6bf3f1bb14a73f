#include "table.h"

#include <string.h>

#include "results.h"
#include "situations/situation.h"

enum { COLUMNS_MAX = 16, ROWS_MAX = 64, ROW_WIDTH = 37, CELL_WIDTH = 12 };

struct names {
    const char *name[ROWS_MAX];
    unsigned count;
};

static void add(struct names *names, const char *name, unsigned max)
{
    for (unsigned i = 0; i < names->count; i++) {
        if (strcmp(names->name[i], name) == 0) {
            return;
        }
    }
    if (names->count < max) {
        names->name[names->count++] = name;
    }
}

static int digits(double value)
{
    return value < 100 ? 2 : value < 1000 ? 1 : 0;
}

/* Median, and half the distance of the quartiles in percent of it. */
static void print_cell(const struct result *result)
{
    char text[32];

    if (result == NULL) {
        printf(" %*s", CELL_WIDTH, "-");
        return;
    }

    struct spread s = result_spread(result);
    double percent = s.median > 0 ? 100 * (s.high - s.low) / 2 / s.median : 0;

    if (result->count > 1) {
        snprintf(text, sizeof text, "%.*f ~%.0f%%", digits(s.median), s.median, percent);
    } else {
        snprintf(text, sizeof text, "%.*f", digits(s.median), s.median);
    }
    printf(" %*s", CELL_WIDTH, text);
}

static void print_row(const char *situation, const char *row, const struct names *columns)
{
    printf("%-*s", ROW_WIDTH, row);
    for (unsigned c = 0; c < columns->count; c++) {
        print_cell(result_find(situation, columns->name[c], row));
    }
    printf("\n");
}

const char *table_fp_column(const char *column, char *buffer)
{
    const char *space = strchr(column, ' ');

    snprintf(buffer, RESULT_NAME, "fp%s", space == NULL ? "" : space);
    return buffer;
}

static void print_ratio(const char *situation, const struct peer *ours, const struct peer *peer,
                        const struct names *columns)
{
    char title[2 * RESULT_NAME];
    char fp[RESULT_NAME];
    double ratios[COLUMNS_MAX];
    bool any = false;

    for (unsigned c = 0; c < columns->count; c++) {
        const char *column = columns->name[c];

        /* "python3, depth" is no figure to be compared. */
        if (strchr(column, ',') != NULL) {
            ratios[c] = 0;
            continue;
        }
        ratios[c] = result_ratio(result_find(situation, column, ours->name),
                                 result_find(situation,
                                             peer->needs_fp ? table_fp_column(column, fp) : column,
                                             peer->name));
        any = any || ratios[c] > 0;
    }
    if (!any) {
        return;
    }
    snprintf(title, sizeof title, "%s : %s", ours->cbf ? "cbf" : "addresses", peer->name);
    printf("  %-*s", ROW_WIDTH - 2, title);
    for (unsigned c = 0; c < columns->count; c++) {
        if (ratios[c] > 0) {
            printf(" %*.3f", CELL_WIDTH, ratios[c]);
        } else {
            printf(" %*s", CELL_WIDTH, "-");
        }
    }
    printf("\n");
}

static void print_ratios(const char *situation, const struct names *columns)
{
    static const enum peer_id ours[] = { PEER_CBF, PEER_ADDRESSES };
    static const enum peer_id others[] = { PEER_FP_CHECKED, PEER_UNW_BACKTRACE, PEER_GLIBC };

    for (size_t i = 0; i < sizeof ours / sizeof *ours; i++) {
        for (size_t j = 0; j < sizeof others / sizeof *others; j++) {
            print_ratio(situation, &peers[ours[i]], &peers[others[j]], columns);
        }
    }
}

static void print_table(const struct situation *situation)
{
    struct names columns = { .count = 0 };
    struct names rows = { .count = 0 };
    const struct result *first = result_of(situation->name);

    if (first == NULL) {
        return;
    }
    if (strcmp(first->column, "skipped") == 0) {
        printf("\n%s skipped: %s\n", situation->name, first->row);
        return;
    }
    /* The peers in the order of their list, then what is none. */
    for (unsigned p = 0; p < PEER_COUNT; p++) {
        for (size_t i = 0; i < result_count; i++) {
            if (strcmp(results[i].situation, situation->name) == 0 &&
                strcmp(results[i].row, peers[p].name) == 0) {
                add(&rows, results[i].row, ROWS_MAX);
            }
        }
    }
    for (size_t i = 0; i < result_count; i++) {
        if (strcmp(results[i].situation, situation->name) == 0) {
            add(&columns, results[i].column, COLUMNS_MAX);
            add(&rows, results[i].row, ROWS_MAX);
        }
    }
    printf("\n%s: %s\n\n%*s", situation->name, situation->text, ROW_WIDTH, "");
    for (unsigned c = 0; c < columns.count; c++) {
        printf(" %*s", CELL_WIDTH, columns.name[c]);
    }
    printf("\n");
    for (unsigned r = 0; r < rows.count; r++) {
        print_row(situation->name, rows.name[r], &columns);
    }
    print_ratios(situation->name, &columns);
}

/* ns a walk, as somebody has it who calls one, in modules of the start and in libraries that were opened. */
static void print_walks(const char *set, bool frame_pointers)
{
    static const enum peer_id rows[] = { PEER_ADDRESSES, PEER_CBF,           PEER_MEMO,
                                         PEER_CBF_MEMO,  PEER_UNW_BACKTRACE, PEER_GLIBC,
                                         PEER_FP_CHECKED };
    static const char *const situation[] = { "call", "plugins" };
    static const int depth[] = { 8, 32, 128 };

    printf("\n%-*s", ROW_WIDTH, frame_pointers ? "with frame pointers" : "without");
    for (unsigned c = 0; c < 6; c++) {
        char title[32];

        snprintf(title, sizeof title, "%s %d", c < 3 ? "start" : "dlopen", depth[c % 3]);
        printf(" %*s", CELL_WIDTH, title);
    }
    printf("\n");
    for (unsigned r = 0; r < sizeof rows / sizeof *rows; r++) {
        if (peers[rows[r]].needs_fp && !frame_pointers) {
            continue;
        }
        printf("%-*s", ROW_WIDTH, peers[rows[r]].name);
        for (unsigned c = 0; c < 6; c++) {
            char column[RESULT_NAME];
            const struct result *result;

            snprintf(column, sizeof column, "%s %d", set, depth[c % 3]);
            result = result_find(situation[c / 3], column, peers[rows[r]].name);
            if (result == NULL) {
                printf(" %*s", CELL_WIDTH, "-");
            } else {
                printf(" %*.0f", CELL_WIDTH, result_spread(result).median * depth[c % 3]);
            }
        }
        printf("\n");
    }
}

void walks_print(void)
{
    if (result_of("call") == NULL && result_of("plugins") == NULL) {
        return;
    }
    printf("\nns a walk of 8, 32 and 128 frames, in modules of the start and in eight libraries "
           "that were\n"
           "opened by dlopen(). glibc's backtrace() is libgcc's unwinder.\n");
    print_walks("fp", true);
    print_walks("nofp", false);
}

void tables_print(void)
{
    printf("Figures are ns a frame where nothing else is said, of stacks 8 to 1000 frames deep in\n"
           "code with frame pointers (fp) and without (nofp): medians over the runs, ~ half the\n"
           "distance of their quartiles. a : b is the median of a / b within a run; where b walks\n"
           "frame pointers, that of the fp code in both halves. \"the same\": the row above, with\n"
           "its cache off.\n");
    for (const struct situation *s = situations; s->name != NULL; s++) {
        print_table(s);
    }
}
