#include "cli/report/report_options.h"

#include <stddef.h>

#include "cli/places.h"

static const struct tool_option views[] = {
    { OPTION_TOP, 0, "top", TAKES_NUMBER, "N",
      "the N functions that took most CPU time (40; 0: all)" },
    { OPTION_BY, 0, "by", TAKES_ARGUMENT, "WHAT",
      "the same of each file, line, module, thread or process; or call: what threads waited in, "
      "and for; "
      "or lock: locks with their waits, and which thread had them; or waker: what ended waits" },
    { OPTION_TREE, 0, "tree", TAKES_NOTHING, NULL, "which function called which" },
    { OPTION_CALLERS, 0, "callers", TAKES_ARGUMENT, "F",
      "callers of a function, and what it called" },
    { OPTION_LIST, 0, "list", TAKES_ARGUMENT, "F",
      "source lines of a function, with the CPU time of each" },
    { OPTION_ANNOTATE, 0, "annotate", TAKES_ARGUMENT, "F",
      "assembly of a function with its source lines, with the CPU time of each" },
    { OPTION_THREADS, 0, "threads", TAKES_NOTHING, NULL, "each thread with its CPU time" },
    { OPTION_TIMELINE, 0, "timeline", TAKES_NUMBER, "N",
      "N threads (20; 0: all) by time: when each ran and when it waited, in what and for what, and "
      "which thread had the lock or ended the wait; with --time, of that span" },
    { OPTION_DIFF, 0, "diff", TAKES_NOTHING, NULL,
      "what changed from OLD to NEW, or between labels, as version=1.1 version=1.2; with --top, "
      "--by" },
    { OPTION_CHECK, 0, "check", TAKES_NOTHING, NULL,
      "say whether the files are whole, and what was lost" },
    OPTIONS_END,
};

static const struct tool_option how[] = {
    { OPTION_SORT, 0, "sort", TAKES_ARGUMENT, "BY",
      "sort tables by self (the default) or by total" },
    { OPTION_MIN, 0, "min", TAKES_ARGUMENT, "PERCENT",
      "leave out what has less: of trees 0.5 is usual, else 0. A tree shows outer calls that are "
      "alone as [N calls], --min 0 each of them" },
    { OPTION_UNIT, 0, "unit", TAKES_ARGUMENT, "U",
      "times in s, ms, us or ns; of heaps: bytes, KiB, MiB or GiB" },
    { OPTION_COLOUR, 0, "color", TAKES_OPTIONAL, "WHEN",
      "colours and bars always, never, or auto: on a terminal without NO_COLOR" },
    { OPTION_NO_PAGER, 0, "no-pager", TAKES_NOTHING, NULL, "no $PAGER (less) on a terminal" },
    { OPTION_INPUT, 'i', "input", TAKES_ARGUMENT, "FILE", "the same as FILE alone" },
    { OPTION_LABEL, 0, "label", TAKES_ARGUMENT, "K=V,...",
      "labels of all recordings, as service=checkout,version=1.2, in place of their own of these "
      "keys" },
    { OPTION_PERF, 0, "perf", TAKES_ARGUMENT, "FILE",
      "the same of a file of `perf record --call-graph dwarf`: its stacks are walked here" },
    { OPTION_APITRACE, 0, "apitrace", TAKES_ARGUMENT, "FILE",
      "the same of a trace of `apitrace trace`: its calls, by function and stack" },
    OPTIONS_END,
};

static const struct tool_option files[] = {
    { OPTION_OUTPUT + REPORT_OUTPUT_HTML, 0, "html", TAKES_ARGUMENT, "FILE",
      "a page to look at: flame graphs, callers, a table, threads, a time line; with --diff, a "
      "comparison. One file, which needs no network" },
    { OPTION_OPEN, 0, "open", TAKES_NOTHING, NULL,
      "that page in $BROWSER, else by xdg-open; without --html in a file of its own in $TMPDIR" },
    { OPTION_OUTPUT + REPORT_OUTPUT_PPROF, 0, "pprof", TAKES_ARGUMENT, "FILE",
      "for pprof, Pyroscope, Parca and others. With --symbols=none they look for names "
      "themselves, by build-id: pprof -top PROGRAM FILE" },
    { OPTION_OUTPUT + REPORT_OUTPUT_OTLP, 0, "otlp", TAKES_ARGUMENT, "FILE",
      "for OpenTelemetry's collector and what stands behind it: OTLP profiles, v1development of "
      "1.11; packed if FILE ends in .gz" },
    { OPTION_OUTPUT + REPORT_OUTPUT_FOLDED, 0, "folded", TAKES_OPTIONAL, "FILE",
      "a line for each thread's name and stack, the outermost function first, with its samples: "
      "for Firefox's profiler, speedscope" },
    { OPTION_OUTPUT + REPORT_OUTPUT_FOLDED_NS, 0, "folded-ns", TAKES_OPTIONAL, "FILE",
      "the same with nanoseconds of CPU time: for flamegraph.pl" },
    { OPTION_OUTPUT + REPORT_OUTPUT_SPEEDSCOPE, 0, "speedscope", TAKES_ARGUMENT, "FILE",
      "for speedscope: threads, samples by time, source files" },
    { OPTION_OUTPUT + REPORT_OUTPUT_FIREFOX, 0, "firefox", TAKES_ARGUMENT, "FILE",
      "for profiler.firefox.com, which reads it without an upload: processes, threads, samples by "
      "time, source files" },
    { OPTION_OUTPUT + REPORT_OUTPUT_CPUPROFILE, 0, "cpuprofile", TAKES_ARGUMENT, "FILE",
      "for VS Code and Chrome's DevTools: all threads on one axis of CPU time; name it "
      "*.cpuprofile" },
    { OPTION_OUTPUT + REPORT_OUTPUT_CHROME_TRACE, 0, "chrome-trace", TAKES_ARGUMENT, "FILE",
      "for Chrome's DevTools, Perfetto: threads by time" },
    { OPTION_OUTPUT + REPORT_OUTPUT_PERF_SCRIPT, 0, "perf-script", TAKES_OPTIONAL, "FILE",
      "each sample as `perf script` prints it: for stackcollapse-perf.pl and others" },
    { OPTION_OUTPUT + REPORT_OUTPUT_CALLGRIND, 0, "callgrind", TAKES_ARGUMENT, "FILE",
      "for KCachegrind and callgrind_annotate: functions, lines, calls; no stacks" },
    { OPTION_OUTPUT + REPORT_OUTPUT_APITRACE_CALLS, 0, "apitrace-calls", TAKES_ARGUMENT, "FILE",
      "for apitrace dump, qapitrace: each thread's stacks as calls, with their values" },
    { OPTION_OUTPUT + REPORT_OUTPUT_DHAT, 0, "dhat", TAKES_ARGUMENT, "FILE",
      "of a heap, for dh_view.html of valgrind: peak, end, lifetimes" },
    { OPTION_OUTPUT + REPORT_OUTPUT_HEAPTRACK, 0, "heaptrack", TAKES_ARGUMENT, "FILE",
      "of a heap with every event, for heaptrack_print and heaptrack_gui; packed if FILE ends in "
      ".gz" },
    { OPTION_OUTPUT + REPORT_OUTPUT_GPERFTOOLS, 0, "gperftools", TAKES_ARGUMENT, "FILE",
      "of a heap, for pprof of gperftools, jeprof and others" },
    { OPTION_OUTPUT + REPORT_OUTPUT_ROWS, 0, "rows", TAKES_OPTIONAL, "FILE",
      "a JSON object for each thread and stack, a line each: for DuckDB, ClickHouse, jq" },
    { OPTION_OUTPUT + REPORT_OUTPUT_MEMORY_ROWS, 0, "memory-rows", TAKES_OPTIONAL, "FILE",
      "of a heap, the same for each instant of each process: what --memory shows" },
    OPTIONS_END,
};

static const struct tool_option parts[] = {
    { OPTION_PROCESS, 0, "process", TAKES_ARGUMENT, "P",
      "only processes of this program (its name or path), or this PID" },
    { OPTION_THREAD, 0, "thread", TAKES_ARGUMENT, "T",
      "only threads of this name, or this thread number" },
    { OPTION_TIME, 0, "time", TAKES_ARGUMENT, "A..B",
      "only what was sampled from A to B seconds after the start of the recording; also "
      "100ms..2.5s, 3.., ..10, mark:NAME..mark:NAME (sfb ctl PID mark NAME). Of heaps: what was "
      "live at B and not at A" },
    { OPTION_FILTER, 0, "filter", TAKES_ARGUMENT, "RE",
      "only samples with a function whose name has this extended regular expression somewhere in "
      "its stack" },
    { OPTION_NATIVE, 0, "native", TAKES_NOTHING, NULL,
      "of a Python function show the interpreter's C function as well, which it stands for "
      "otherwise" },
    { OPTION_PYTHON, 0, "python", TAKES_NOTHING, NULL,
      "of a stack with Python functions show these alone" },
    { OPTION_GIL, 0, "gil", TAKES_OPTIONAL, "STATE",
      "only samples of threads that hold Python's GIL; or, of a recording by --wall, that waited "
      "for it, or had released it: held, waited, released" },
    { OPTION_NO_INLINES, 0, "no-inlines", TAKES_NOTHING, NULL,
      "count inlined functions as part of the functions that contain them" },
    OPTIONS_END,
};

static const struct tool_option of_heaps[] = {
    { OPTION_VALUE, 0, "value", TAKES_ARGUMENT, "V",
      "what is shown. Of a recording with waits: wall (without it), cpu, offcpu, blocked or "
      "runnable. Of a heap: what was allocated, is live, was live at the peak, or is temporary "
      "(its "
      "thread freed it within 8 of its next allocations and frees). Without it: live, and the peak "
      "where nothing "
      "lives" },
    { OPTION_BLOCKS, 0, "blocks", TAKES_NOTHING, NULL, "numbers of blocks, not of bytes" },
    { OPTION_LEAKS, 0, "leaks", TAKES_NUMBER, "N",
      "N stacks of what lives at the end (10; 0: all)" },
    { OPTION_SUPPRESSIONS, 0, "suppressions", TAKES_ARGUMENT, "FILE",
      "without the leaks that FILE names, as LeakSanitizer does: leak:PATTERN" },
    { OPTION_TAIL, 0, "tail", TAKES_OPTIONAL, "T",
      "without what came in the last part of the run: 10% or seconds" },
    { OPTION_AT, 0, "at", TAKES_ARGUMENT, "T", "what was live T seconds after the start" },
    { OPTION_TEMPORARY, 0, "temporary", TAKES_NUMBER, "N", "N stacks of what is temporary" },
    { OPTION_REALLOCS, 0, "reallocs", TAKES_NUMBER, "N", "N stacks of realloc()" },
    { OPTION_SLACK, 0, "slack", TAKES_NUMBER, "N", "N stacks of what was more than asked for" },
    { OPTION_ELSEWHERE, 0, "freed-elsewhere", TAKES_NUMBER, "N",
      "N stacks of what another thread freed" },
    { OPTION_SIZES, 0, "sizes", TAKES_NOTHING, NULL, "how many blocks are of which size" },
    { OPTION_LIFETIMES, 0, "lifetimes", TAKES_NOTHING, NULL, "how many live for how long" },
    { OPTION_MEMORY, 0, "memory", TAKES_NUMBER, "N",
      "memory at N instants (20; 0: all): what is live, what the allocator has in use and holds, "
      "what is resident. What it holds and has not in use is fragmentation" },
    { OPTION_FOLD, 0, "fold", TAKES_ARGUMENT, "FILE",
      "where stacks begin: behind functions of this list, in place of the usual one (std::, "
      "allocators, the C library). none: stacks are whole, as --callers, --list and files have "
      "them" },
    { OPTION_PRINT_FOLD, 0, "print-fold", TAKES_NOTHING, NULL,
      "print the usual list, to be changed, and end" },
    OPTIONS_END,
};

static const struct tool_option of_names[] = {
    { OPTION_NAMES, 0, "names", TAKES_ARGUMENT, "STYLE",
      "names of C++, Rust and D functions: full (the default), short, with arguments cut to (...) "
      "and <...>, or raw: _ZN5shape4areaEi" },
    { OPTION_SYMBOLS, 0, "symbols", TAKES_ARGUMENT, "none",
      "look for no names: functions are offsets in their modules" },
    OPTIONS_END,
};

static const struct tool_option of_notes[] = {
    { OPTION_LWS, 0, "lws", TAKES_ARGUMENT, "PROGRAM",
      "sums them by stack; PROGRAM names the functions. It is the program, or a copy of its "
      "/proc/PID/maps. LOG is the log; without it stdin" },
    { OPTION_BASE, 0, "base", TAKES_ARGUMENT, "ADDRESS",
      "PROGRAM was loaded there: what its first line in /proc/PID/maps begins with. A program "
      "that is not position-independent needs none" },
    { OPTION_DIALECT, 0, "dialect", TAKES_ARGUMENT, "D",
      "library or readme, as in `sfb decode --lws`; without it, what fits" },
    OPTIONS_END,
};

const struct option_group report_options[] = {
    { "What is shown; without such an option an overview of all of it", views,
      "F is a function's name, with or without its namespace, template arguments and parameters; "
      "or an extended regular expression that is found in it.\n" },
    { "How", how, NULL },
    { "For other tools; FILE - is standard output", files, NULL },
    { "Which part of it", parts, NULL },
    { "Of heaps (sfb record --heap)", of_heaps, NULL },
    { "Names", of_names, NULL },
    { NULL, places_options, NULL },
    { "Notes of allocations in a log (libwebsockets, <sframe_backtrace_alloc.h>)", of_notes, NULL },
    OPTION_GROUPS_END,
};

#define A_PAGE       "--html FILE writes a page to look at"
#define OTHER_FIELDS "--by WHAT: function, file, line, module, thread or process"
#define AS_TREE                                                                                    \
    "--tree shows which function called which, --callers F the callers of F and what F called"
#define FUNCTIONS "--filter RE takes samples by function; --callers F and --list F show one"
#define MODULES   "--by module shows them; --filter RE takes samples by function"
#define BOTH      "self and total are both shown: leave it out, or --sort total"
#define FIRST_LINES                                                                                \
    "without options the first lines say what was recorded and how; --check says what was lost"
#define NO_KERNEL "stacks end where the kernel begins, and need none of its names: leave it out"
#define RAW_NAMES "--names raw shows names as they are linked, --names full readable ones"

static const struct option_habit of_perf[] = {
    { OPTION_PROCESS, 'c', "comms", TAKES_ARGUMENT, "P", NULL },
    { OPTION_PROCESS, 0, "pid", TAKES_ARGUMENT, "PID", NULL },
    { OPTION_THREAD, 0, "tid", TAKES_ARGUMENT, "TID", NULL },
    { OPTION_THREADS, 'T', NULL, TAKES_NOTHING, NULL, NULL },
    { OPTION_MIN, 0, "percent-limit", TAKES_ARGUMENT, "N", NULL },
    { OPTION_SYMBOL_PATH, 0, "symfs", TAKES_ARGUMENT, "DIR", NULL },
    { HABIT_NEEDLESS, 0, "stdio", TAKES_NOTHING, NULL, NULL },
    { HABIT_NEEDLESS, 'f', "force", TAKES_NOTHING, NULL, NULL },
    { HABIT_REFUSED, 0, "tui", TAKES_NOTHING, NULL, A_PAGE },
    { HABIT_REFUSED, 0, "gtk", TAKES_NOTHING, NULL, A_PAGE },
    { HABIT_REFUSED, 'n', "show-nr-samples", TAKES_NOTHING, NULL,
      "--folded and --rows have the samples of each stack" },
    { HABIT_REFUSED, 's', NULL, TAKES_ARGUMENT, "KEY", OTHER_FIELDS },
    { HABIT_REFUSED, 'F', "fields", TAKES_ARGUMENT, "KEY", OTHER_FIELDS },
    { HABIT_REFUSED, 'g', "call-graph", TAKES_OPTIONAL, NULL, AS_TREE },
    { HABIT_REFUSED, 'G', "inverted", TAKES_NOTHING, NULL, AS_TREE },
    { HABIT_REFUSED, 0, "hierarchy", TAKES_NOTHING, NULL, AS_TREE },
    { HABIT_REFUSED, 'p', "parent", TAKES_ARGUMENT, "RE", AS_TREE },
    { HABIT_REFUSED, 0, "children", TAKES_NOTHING, NULL, BOTH },
    { HABIT_REFUSED, 0, "no-children", TAKES_NOTHING, NULL, BOTH },
    { HABIT_REFUSED, 'd', "dsos", TAKES_ARGUMENT, "NAME", MODULES },
    { HABIT_REFUSED, 'S', NULL, TAKES_ARGUMENT, "NAME", FUNCTIONS },
    { HABIT_REFUSED, 0, "symbol-filter", TAKES_ARGUMENT, "NAME", FUNCTIONS },
    { HABIT_REFUSED, 'D', "dump-raw-trace", TAKES_NOTHING, NULL,
      "--rows has a line for each thread and stack" },
    { HABIT_REFUSED, 'I', "show-info", TAKES_NOTHING, NULL, FIRST_LINES },
    { HABIT_REFUSED, 0, "header", TAKES_NOTHING, NULL, FIRST_LINES },
    { HABIT_REFUSED, 0, "header-only", TAKES_NOTHING, NULL, FIRST_LINES },
    { HABIT_REFUSED, 'v', "verbose", TAKES_NOTHING, NULL, "--check says what was lost" },
    { HABIT_REFUSED, 0, "tasks", TAKES_NOTHING, NULL, "--threads lists them" },
    { HABIT_REFUSED, 'k', "vmlinux", TAKES_ARGUMENT, "FILE", NO_KERNEL },
    { HABIT_REFUSED, 0, "kallsyms", TAKES_ARGUMENT, "FILE", NO_KERNEL },
    { HABIT_REFUSED, 'm', "modules", TAKES_NOTHING, NULL, NO_KERNEL },
    { HABIT_REFUSED, 0, "demangle", TAKES_NOTHING, NULL, RAW_NAMES },
    { HABIT_REFUSED, 0, "no-demangle", TAKES_NOTHING, NULL, RAW_NAMES },
    { HABIT_REFUSED, 'o', "output", TAKES_ARGUMENT, "FILE",
      "text goes to standard output; --html FILE, --pprof FILE, --folded=FILE, ... write files" },
    OPTION_HABITS_END,
};

const struct option_habits report_habits = { "perf report", of_perf,
                                             "a report is text, and takes any file that is named" };
