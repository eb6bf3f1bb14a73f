#include "cli/record/record_options.h"

#include <stddef.h>

static const struct tool_option usual[] = {
    { OPTION_CPU, 0, "cpu", TAKES_NOTHING, NULL, "CPU time: the default" },
    { OPTION_WALL, 0, "wall", TAKES_NOTHING, NULL,
      "CPU time and waits: where threads sleep, in which system call. From outside, without an "
      "agent; no thread that sleeps is stopped" },
    { OPTION_WALL_RATE, 0, "wall-rate", TAKES_ARGUMENT, "HZ",
      "the same with so many looks a second; default 100" },
    { OPTION_HEAP, 0, "heap", TAKES_NOTHING, NULL,
      "each allocation and each free, with its stack" },
    { OPTION_HEAP_RATE, 0, "heap-rate", TAKES_NUMBER, "N",
      "the heap, by a sample for each N bytes in the mean; default 512k. All numbers are "
      "estimates, and the report shows their errors" },
    { OPTION_OUTPUT, 'o', "output", TAKES_ARGUMENT, "FILE",
      "the recording; default sfb-PROGRAM-PID.sfbr" },
    { OPTION_FORCE, 'f', "force", TAKES_NOTHING, NULL, "overwrite FILE" },
    { OPTION_DURATION, 0, "duration", TAKES_ARGUMENT, "S",
      "end the recording after S seconds; the program runs on" },
    { OPTION_PAUSED, 0, "paused", TAKES_NOTHING, NULL,
      "record nothing until `sfb ctl PID start`; `sfb ctl PID stop` pauses again" },
    { OPTION_NO_CHILDREN, 0, "no-children", TAKES_NOTHING, NULL,
      "only the program, not what it starts" },
    { OPTION_MAX_SIZE, 0, "max-size", TAKES_ARGUMENT, "N",
      "end the recording when FILE has N bytes; k, M, G are 2^10, 2^20, 2^30" },
    { OPTION_LABEL, 0, "label", TAKES_ARGUMENT, "K=V,...",
      "labels of the recording, as service=checkout,version=1.2: sfb report writes them into "
      "files for other tools" },
    { OPTION_PROGRESS, 0, "progress", TAKES_NOTHING, NULL,
      "a line on the terminal that counts what was recorded; for programs that do not use the "
      "terminal themselves" },
    { OPTION_QUIET, 'q', "quiet", TAKES_NOTHING, NULL,
      "no line at the end, nor of losses: errors only" },
    { OPTION_PID, 'p', "pid", TAKES_ARGUMENT, "PID",
      "a process that runs, with what it starts: from outside, without an agent" },
    { OPTION_ALL, 'a', "all", TAKES_NOTHING, NULL,
      "all your processes; as root all of the machine" },
    { OPTION_DELAY, 0, "delay", TAKES_ARGUMENT, "S", "with these two: begin after S seconds" },
    { OPTION_KERNEL, 0, "kernel", TAKES_NOTHING, NULL,
      "with these two: fail where the kernel's own frames are not allowed" },
    { OPTION_PRINT_AGENT, 0, "print-agent", TAKES_ARGUMENT, "KIND",
      "print the library to preload or link, and record nothing: cpu or heap" },
    OPTIONS_END,
};

static const struct tool_option of_time[] = {
    { OPTION_RATE, 'F', "rate", TAKES_ARGUMENT, "HZ",
      "samples a second of CPU time of a thread; default 997" },
    { OPTION_ENGINE, 0, "engine", TAKES_ARGUMENT, "NAME",
      "perf, perf-user (without the kernel's time), timer or sampler; the default is perf where "
      "it is allowed, else timer. With --pid, --all or --wall: looks, where the kernel has no perf "
      "events" },
    { OPTION_MAX_FRAMES, 0, "max-frames", TAKES_ARGUMENT, "N",
      "of a stack; default 4096. Of a deeper one an eighth of them is kept for the outermost "
      "frames, and the report shows the gap" },
    OPTIONS_END,
};

static const struct tool_option of_heaps[] = {
    { OPTION_HEAP_MMAP, 0, "heap-mmap", TAKES_NOTHING, NULL, "mmap, munmap and mremap, too" },
    { OPTION_HEAP_WAIT, 0, "heap-wait", TAKES_NOTHING, NULL,
      "lose no event: where sfb is behind, the program waits for it" },
    { OPTION_PYTHON_OBJECTS, 0, "python-objects", TAKES_NOTHING, NULL,
      "small objects of CPython, too, which do not come from malloc()" },
    { OPTION_AGGREGATE, 0, "aggregate", TAKES_NOTHING, NULL,
      "sums of each stack alone, no events: for long runs" },
    { OPTION_SNAPSHOT, 0, "snapshot", TAKES_ARGUMENT, "S",
      "write the sums each S seconds; default 10 with --aggregate, else only at the end" },
    { OPTION_TEMPORARY_WITHIN, 0, "temporary-within", TAKES_ARGUMENT, "N",
      "a block is temporary if its thread frees it within N of its allocations and frees; 1 to 64, "
      "default 8" },
    { OPTION_FAIL_ABOVE, 0, "fail-above", TAKES_ARGUMENT, "N",
      "exit status 1 if the peak is above N bytes; k, M, G are 2^10, 2^20, 2^30" },
    { OPTION_FAIL_ON_LEAK, 0, "fail-on-leak", TAKES_NOTHING, NULL,
      "exit status 1 if blocks of the program live at its end" },
    { OPTION_SUPPRESSIONS, 0, "suppressions", TAKES_ARGUMENT, "FILE",
      "leaks to leave out, as in LeakSanitizer: lines with leak:PATTERN" },
    OPTIONS_END,
};

static const struct tool_option continuous[] = {
    { OPTION_EVERY, 0, "every", TAKES_ARGUMENT, "S",
      "a recording each S seconds, one after another, from outside, without an agent" },
    { OPTION_SPOOL, 0, "spool", TAKES_ARGUMENT, "DIR", "the folder for them; made if missing" },
    { OPTION_KEEP, 0, "keep", TAKES_ARGUMENT, "N",
      "drop the oldest when all have N bytes, uploaded ones first; k, M, G as above; default 1G" },
    { OPTION_UPLOAD, 0, "upload", TAKES_ARGUMENT, "URL",
      "send each over HTTP, as http://HOST:4318/v1development/profiles for OpenTelemetry's "
      "collector; what cannot be sent now is sent later" },
    { OPTION_UPLOAD_AS, 0, "upload-as", TAKES_ARGUMENT, "F", "otlp (the default) or pprof" },
    { OPTION_UPLOAD_HEADERS, 0, "upload-headers", TAKES_ARGUMENT, "FILE",
      "lines such as 'Authorization: Bearer TOKEN'; only its owner may read FILE" },
    { OPTION_UPLOAD_CA, 0, "upload-ca", TAKES_ARGUMENT, "FILE",
      "certificates to trust in place of the system's" },
    OPTIONS_END,
};

const struct option_group record_options[] = {
    { NULL, usual, NULL },
    { "CPU time", of_time, NULL },
    { "The heap", of_heaps, NULL },
    { "One recording after another", continuous, NULL },
    OPTION_GROUPS_END,
};

#define NO_THREADS                                                                                 \
    "a process is recorded, with all its threads: 'sfb record --pid PID', and "                    \
    "'sfb report --thread TID'"
#define NO_PARTS                                                                                   \
    "'sfb record --all' records your processes, or as root the machine's: 'sfb report' then "      \
    "chooses"
#define NO_BRANCHES "branches are not recorded: 'perf record' does that"

static const struct option_habit of_perf[] = {
    { OPTION_RATE, 0, "freq", TAKES_ARGUMENT, "HZ", NULL },
    { OPTION_NO_CHILDREN, 'i', "no-inherit", TAKES_NOTHING, NULL, NULL },
    { HABIT_NEEDLESS, 'g', NULL, TAKES_NOTHING, NULL, NULL },
    { HABIT_NEEDLESS, 0, "call-graph", TAKES_ARGUMENT, "X", NULL },
    { HABIT_NEEDLESS, 'T', "timestamp", TAKES_NOTHING, NULL, NULL },
    { HABIT_NEEDLESS, 'z', "compression-level", TAKES_OPTIONAL, NULL, NULL },
    { OPTION_ALL, 0, "all-cpus", TAKES_NOTHING, NULL, NULL },
    { HABIT_REFUSED, 't', "tid", TAKES_ARGUMENT, "TID", NO_THREADS },
    { HABIT_REFUSED, 'u', "uid", TAKES_ARGUMENT, "UID", NO_PARTS },
    { HABIT_REFUSED, 'G', "cgroup", TAKES_ARGUMENT, "NAME", NO_PARTS },
    { HABIT_REFUSED, 'C', NULL, TAKES_ARGUMENT, "CPU",
      "a program is recorded on every CPU: leave it out" },
    { HABIT_REFUSED, 'e', "event", TAKES_ARGUMENT, "EVENT",
      "CPU time is what is sampled: leave it out; --heap records allocations" },
    { HABIT_REFUSED, 'c', "count", TAKES_ARGUMENT, "N", "samples go by time: --rate HZ" },
    { HABIT_REFUSED, 'm', "mmap-pages", TAKES_ARGUMENT, "N", "buffers grow: leave it out" },
    { HABIT_REFUSED, 'D', NULL, TAKES_ARGUMENT, "MS",
      "--delay S is for --pid; of a program all of the run is recorded: 'sfb report --time 2..' "
      "leaves out the first two seconds" },
    { HABIT_REFUSED, 'b', "branch-any", TAKES_NOTHING, NULL, NO_BRANCHES },
    { HABIT_REFUSED, 'j', "branch-filter", TAKES_ARGUMENT, "X", NO_BRANCHES },
    { HABIT_REFUSED, 'v', "verbose", TAKES_NOTHING, NULL,
      "leave it out: 'sfb report --check' says what was lost" },
    { HABIT_REFUSED, 0, "all-user", TAKES_NOTHING, NULL,
      "--engine perf-user leaves out the kernel's time" },
    { HABIT_REFUSED, 0, "off-cpu", TAKES_NOTHING, NULL, "sfb record --wall records waits" },
    { HABIT_REFUSED, 0, "switch-output", TAKES_OPTIONAL, NULL,
      "a recording is one file: --duration S or --max-size N end it" },
    OPTION_HABITS_END,
};

const struct option_habits record_habits = { "perf record", of_perf,
                                             "stacks and times are always recorded, and packed" };
