/* Tracepoints: what tracefs says of their fields, and records of them. */
#include <string.h>

#include "profiler/collector/outside/tracepoint.h"
#include "support/test.h"

/* As Linux 6.18 has it. */
static const char switch_format[] =
    "name: sched_switch\nID: 372\nformat:\n"
    "\tfield:unsigned short common_type;\toffset:0;\tsize:2;\tsigned:0;\n"
    "\tfield:unsigned char common_flags;\toffset:2;\tsize:1;\tsigned:0;\n"
    "\tfield:unsigned char common_preempt_count;\toffset:3;\tsize:1;\tsigned:0;\n"
    "\tfield:int common_pid;\toffset:4;\tsize:4;\tsigned:1;\n\n"
    "\tfield:char prev_comm[16];\toffset:8;\tsize:16;\tsigned:0;\n"
    "\tfield:pid_t prev_pid;\toffset:24;\tsize:4;\tsigned:1;\n"
    "\tfield:int prev_prio;\toffset:28;\tsize:4;\tsigned:1;\n"
    "\tfield:long prev_state;\toffset:32;\tsize:8;\tsigned:1;\n"
    "\tfield:char next_comm[16];\toffset:40;\tsize:16;\tsigned:0;\n";

Test(tracepoint, fields_are_found)
{
    struct tracepoint t = { .number = 372 };

    cr_assert(tracepoint_field(&t, switch_format, "prev_state"));
    cr_assert(eq(u32, t.offset, 32));
    cr_assert(eq(u32, t.size, 8));
    cr_assert(tracepoint_field(&t, switch_format, "prev_pid"));
    cr_assert(eq(u32, t.offset, 24));
    cr_assert(eq(u32, t.size, 4));
}

Test(tracepoint, wrong_fields_are_refused)
{
    static const char *const wrong[] = { "",
                                         "\tfield:int pid;",
                                         "\tfield:int pid;\toffset:24;\n\tfield:int x;\tsize:4;\n",
                                         "\tfield:int pid;\toffset:24;\tsize:2;\n",
                                         "\tfield:int pid;\toffset:4;\tsize:4;\n",
                                         "\tfield:int pid;\toffset:99999999;\tsize:4;\n",
                                         "\tfield:int pid;\toffset:-8;\tsize:4;\n" };
    struct tracepoint t;

    cr_assert(not(tracepoint_field(&t, switch_format, "pid")));
    cr_assert(not(tracepoint_field(&t, switch_format, "next_comm")));
    for (size_t i = 0; i < sizeof wrong / sizeof *wrong; i++)
        cr_assert(not(tracepoint_field(&t, wrong[i], "pid")), "%s", wrong[i]);
}

Test(tracepoint, records_are_of_their_tracepoint_and_whole)
{
    const struct tracepoint state = { 372, 32, 8 }, pid = { 375, 24, 4 }, none = { 0, 0, 4 };
    const uint64_t disk = 2;
    uint8_t raw[64] = { 372 & 0xff, 372 >> 8 };
    uint64_t value;

    memcpy(raw + 32, &disk, sizeof disk);
    for (size_t size = 0; size < 40; size++)
        cr_assert(not(tracepoint_read(&value, &state, raw, size)), "%zu", size);
    cr_assert(tracepoint_read(&value, &state, raw, 40));
    cr_assert(eq(u64, value, disk));
    cr_assert(not(tracepoint_read(&value, &pid, raw, sizeof raw)));
    cr_assert(not(tracepoint_read(&value, &none, raw, sizeof raw)));
}
