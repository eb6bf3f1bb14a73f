#include "toolchain/synth/outcome.h"

#include <inttypes.h>

#include "util/counted.h"
#include "util/foreign.h"

/* Counts each reason; there are a dozen of them, each one static string. */
static void report_reasons(FILE *to, const struct synthesis *s)
{
    struct {
        const char *text;
        uint64_t count, size;
    } reasons[16] = { { NULL, 0, 0 } };

    for (size_t i = 0; i < s->gap_count; i++) {
        const struct synthesis_gap *g = &s->gaps[i];
        size_t r = 0;

        while (reasons[r].text != NULL && reasons[r].text != g->reason &&
               r < sizeof reasons / sizeof *reasons - 1)
            r++;
        reasons[r].text = g->reason;
        reasons[r].count++;
        reasons[r].size += g->code.end - g->code.start;
    }
    for (size_t r = 0; reasons[r].text != NULL; r++)
        fprintf(to, "  %s (%" PRIu64 "x): %s\n", counted(reasons[r].size, "bytes").text,
                reasons[r].count, reasons[r].text);
}

static void report_gaps(FILE *to, const struct synthesis *s)
{
    for (size_t i = 0; i < s->gap_count; i++) {
        const struct synthesis_gap *g = &s->gaps[i];

        fprintf(to, "  0x%" PRIx64 "-0x%" PRIx64, g->code.start, g->code.end);
        if (g->code.start != g->function.start || g->code.end != g->function.end)
            fprintf(to, " of 0x%" PRIx64 "-0x%" PRIx64, g->function.start, g->function.end);
        fprintf(to, ": %s\n", g->reason);
    }
}

void synthesis_report(FILE *to, const char *name, const struct synthesis *s,
                      const struct synthesis_size *size, bool verbose)
{
    foreign_print(to, name);
    fprintf(to,
            ": %s, %s (%" PRIu32 " stored), %s (%.2f of the %" PRIu64
            " of .eh_frame and its table) at 0x%" PRIx64 "\n",
            counted(s->function_count, "functions").text, counted(s->row_count, "rows").text,
            size->stored_rows, counted(size->bytes, "bytes").text,
            size->eh_frame ? (double)size->bytes / (double)size->eh_frame : 0.0, size->eh_frame,
            size->address);
    fprintf(to, "%s not wholly expressible, %s of %" PRIu64 "%s\n",
            counted(s->partial_count, "functions").text, counted(s->gap_size, "bytes").text,
            s->code_size, s->gap_count ? ":" : "");
    if (verbose)
        report_gaps(to, s);
    else
        report_reasons(to, s);
}

void synthesis_report_choice(FILE *to, const struct synthesis_choice *choice)
{
    fprintf(to, "version %u of the format: ", choice->version);
    if (!choice->because)
        fprintf(to, "no function needs a later one\n");
    else
        fprintf(to, "the function at 0x%" PRIx64 "-0x%" PRIx64 " needs it (%s)\n",
                choice->function.start, choice->function.end, choice->because);
}
