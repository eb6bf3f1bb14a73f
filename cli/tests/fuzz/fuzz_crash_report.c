/*
 * Text from anywhere, read as reports of the crash handler: what is found lies in the text, can be
 * printed, and is found once.
 */
#include "fuzz/fuzz.h"

#include <stdarg.h>
#include <string.h>

#include "cli/crash_report.h"

/* In the place of the command's, which would print a line for most inputs. */
static const char *complaint;

enum tool_exit tool_complain(enum tool_exit exit_status, const char *format, ...)
{
    complaint = format;
    return exit_status;
}

static void check(const struct crash_report *report, size_t size)
{
    size_t named = 0;

    FUZZ_CHECK(report->headline && strncmp(report->headline, "SIG", 3) == 0);
    for (const char *c = report->headline; *c; c++)
        FUZZ_CHECK((unsigned char)*c >= 0x20 && *c != 0x7f);
    FUZZ_CHECK(report->cbf.size <= size / 2);
    for (size_t i = 0; i < report->block_count; i++) {
        const struct crash_block *block = &report->blocks[i];

        for (const char *c = block->text; *c; c++)
            FUZZ_CHECK((unsigned char)*c >= 0x20 && *c != 0x7f);
        FUZZ_CHECK(block->cbf.size <= size / 2);
    }
    for (size_t i = 0; i < report->module_count; i++) {
        const struct loaded_module *m = &report->modules[i];

        FUZZ_CHECK(m->start < m->end && m->size <= sizeof m->build_id && !m->refused);
        named += strlen(m->path);
    }
    FUZZ_CHECK(named <= size);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    struct input input = { .name = "input", .data = malloc(size), .size = size };
    struct crash_report report = { .headline = NULL };
    enum tool_exit exit_status = TOOL_DONE;
    size_t offset = 0, last = 0;

    /* A copy of its very size. */
    if (!input.data)
        return 0;
    memcpy(input.data, data, size);
    complaint = NULL;
    while (crash_report_read(&report, &input, &offset, &exit_status)) {
        FUZZ_CHECK(offset > last && offset <= size);
        last = offset;
        check(&report, size);
        crash_report_free(&report);
    }
    FUZZ_CHECK((exit_status == TOOL_BAD_DATA) == (complaint != NULL));
    free(input.data);
    return 0;
}
