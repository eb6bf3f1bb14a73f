/* Crash logs of Swift: `sfb symbolize LOG.json`, and --swift-json, read back. */
#include <stdio.h>
#include <string.h>

#include "support/folder.h"
#include "support/run.h"
#include "support/test.h"

TestSuite(tool_swift_json, .init = folder_enter, .fini = folder_remove);

static void expect(const char *line, int status, const char *out, const char *err)
{
    struct run run = run_line("SFB='%s'; %s", SFB_TOOL, line);

    cr_expect(eq(int, run.status, status), "%s: status %d: %s", line, run.status, run.err);
    run_expect_text(line, run.out, out);
    run_expect_text(line, run.err, err);
    run_free(&run);
}

/* As Swift 6.3 writes them: an async function that crashed, and a thread without names. */
static const char swift_log[] =
    "{ \"timestamp\": \"2026-01-02T03:04:05.000006Z\", \"kind\": \"crashReport\", \"description\": "
    "\"Bad pointer dereference\", \"faultAddress\": \"0x0000000000000004\", \"platform\": "
    "\"Linux (Debian sid)\", \"architecture\": \"x86_64\", \"threads\": [ { \"name\": \"a\\u001b "
    "b\", "
    "\"crashed\": true, \"registers\": {\"rax\": \"0x0000000000000007\" }, \"frames\": [ { "
    "\"kind\": "
    "\"programCounter\", \"address\": \"0x0000560000001010\", \"inlined\": true, \"symbol\": "
    "\"$s1a2inyyF\", \"offset\": 0, \"image\": \"a\", \"sourceLocation\": { \"file\": "
    "\"/src/a.swift\", \"line\": 7, \"column\": 15 } }, { \"kind\": \"programCounter\", "
    "\"address\": "
    "\"0x0000560000001010\", \"symbol\": \"_ZN5shape4areaEi\", \"offset\": 16, \"image\": \"a\" }, "
    "{ "
    "\"kind\": \"returnAddress\", \"address\": \"0x0000560000002010\" }, { \"kind\": "
    "\"asyncResumePoint\", \"address\": \"0x0000560000003000\", \"symbol\": "
    "\"$s1a5levelyySiYaFTQ1_\", "
    "\"offset\": 0, \"image\": \"a\" }, { \"kind\": \"asyncResumePoint\", \"address\": "
    "\"0x0000560000003000\" }, { \"kind\": \"omittedFrames\", \"count\": 100 }, { \"kind\": "
    "\"returnAddress\", \"address\": \"0x0000560000004000\" }, { \"kind\": \"truncated\" } ] }, { "
    "\"frames\": [ ] } ], \"omittedThreads\": 3, \"images\": [ { \"name\": \"a\", \"buildId\": "
    "\"0011\", \"path\": \"/nowhere/a\", \"baseAddress\": \"0x0000560000000000\", \"endOfText\": "
    "\"0x0000560000005000\" } ] , \"backtraceTime\": 0.05 }\n";

static const char swift_text[] = "Bad pointer dereference at 0x0000000000000004\n"
                                 "thread 0 \"a\\033 b\", which crashed\n"
                                 "#0 0x560000001010 $s1a2inyyF (a.swift:7) inlined in a\n"
                                 "#0 0x560000001010 shape::area(int)+0x10 in a\n"
                                 "#1 0x560000002010 ? in a\n"
                                 "... awaited by\n"
                                 "#2 0x560000003000 $s1a5levelyySiYaFTQ1_+0x0 in a\n"
                                 "#3 0x560000003000 ? in a\n"
                                 "... 100 frames omitted\n"
                                 "#104 0x560000004000 ? in a\n"
                                 "... truncated\n"
                                 "thread 1\n"
                                 "3 threads are left out\n";

Test(tool_swift_json, prints_logs_as_frames)
{
    char twice[2 * sizeof swift_text];

    folder_write("log.json", swift_log);
    expect("$SFB symbolize log.json 2>err; cat err | grep -c nowhere >&2", 0, swift_text, "1\n");
    snprintf(twice, sizeof twice, "%s\n%s", swift_text, swift_text);
    expect("cat log.json log.json | $SFB symbolize 2>/dev/null", 1, twice, "");
}

/* As they stand on a terminal. */
Test(tool_swift_json, finds_logs_between_other_lines)
{
    char twice[2 * sizeof swift_text];

    folder_write("log.json", swift_log);
    snprintf(twice, sizeof twice, "%s\n%s", swift_text, swift_text);
    expect("(printf '\\n*** Signal 11: Backtracing from 0x1... done ***\\n\\n'; cat log.json; echo "
           "'{\"a\": 1}'; cat log.json; echo end) | $SFB symbolize 2>/dev/null",
           1, twice, "");
    expect("(echo '*** a'; head -c 600 log.json) | $SFB symbolize 2>&1 | grep -c 'text+0x'", 0,
           "1\n", "");
}

Test(tool_swift_json, refuses_what_is_no_log)
{
    static const struct {
        const char *json, *err;
    } cases[] = {
        { "{", "sfb: log.json: text+0x1: string or '}' expected near end of file\n" },
        { "{}", "sfb: log.json: log 1: it has no threads: no crash log of Swift\n" },
        { "{\"threads\":[{}]}", "sfb: log.json: log 1: frame 0: a thread without frames\n" },
        { "{\"threads\":[{\"frames\":[7]}]}", "sfb: log.json: log 1: frame 0: no kind\n" },
        { "{\"threads\":[{\"frames\":[{\"kind\":\"x\"}]}]}",
          "sfb: log.json: log 1: frame 0: of no known kind\n" },
        { "{\"threads\":[{\"frames\":[{\"kind\":\"omittedFrames\",\"count\":-1}]}]}",
          "sfb: log.json: log 1: frame 0: of no known kind\n" },
        { "{\"threads\":[{\"frames\":[{\"kind\":\"returnAddress\",\"address\":\"0x\"}]}]}",
          "sfb: log.json: log 1: frame 0: no address\n" },
        { "{\"threads\":[{\"frames\":[{\"kind\":\"returnAddress\",\"address\":17}]}]}",
          "sfb: log.json: log 1: frame 0: no address\n" },
    };

    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        folder_write("log.json", cases[i].json);
        expect("$SFB symbolize log.json >out", 1, "", cases[i].err);
    }
    expect("(printf '{\"threads\":'; head -c 1000000 /dev/zero | tr '\\0' '[') >log.json; $SFB "
           "symbolize log.json 2>&1 | grep -c 'text+'",
           0, "1\n", "");
}

#define MAPS "560000000000-560000005000 r-xp 00000000 08:01 77 /nowhere/a\n"

/* Repeats, frames that were left out, and those that await. */
Test(tool_swift_json, writes_backtraces_that_it_reads)
{
    folder_write("maps", MAPS);
    folder_write("frames", "pc 0x560000001010\nra 0x560000002010\nrep 2\nasync 0x560000003000\n"
                           "omit 5\nra 0x560000004000\ntruncated\n");
    expect("$SFB encode frames >cbf && $SFB symbolize --maps maps --swift-json cbf >log.json "
           "2>/dev/null; $SFB symbolize log.json 2>/dev/null",
           0,
           "backtrace at 0x0000000000000000\n"
           "thread 0, which crashed\n"
           "#0 0x560000001010 ? in a\n"
           "#1 0x560000002010 ? in a\n"
           "#2 0x560000002010 ? in a\n"
           "#3 0x560000002010 ? in a\n"
           "... awaited by\n"
           "#4 0x560000003000 ? in a\n"
           "... 5 frames omitted\n"
           "#10 0x560000004000 ? in a\n"
           "... truncated\n",
           "");
    expect("grep -c '\"kind\"' log.json; grep -c '\"image\": \"a\"' log.json", 0, "9\n6\n", "");
    expect("$SFB symbolize --swift-json log.txt 2>&1 | grep -c 'no crash report'", 1, "0\n", "");
    /* A suspended task. */
    folder_write("frames", "async 0x560000003000\nasync 0x560000002000\n");
    expect("$SFB encode frames >cbf && $SFB symbolize --maps maps --swift-json cbf >log.json "
           "2>/dev/null; $SFB symbolize log.json 2>/dev/null",
           0,
           "backtrace at 0x0000000000000000\n"
           "thread 0, which crashed\n"
           "#0 0x560000003000 ? in a\n"
           "#1 0x560000002000 ? in a\n",
           "");
}

/* A report: each frame as without JSON, with its registers, and the images' build-ids. */
Test(tool_swift_json, writes_reports_that_it_reads)
{
    folder_write("log.txt",
                 "sframe-backtrace: crash: SIGSEGV (11) code SEGV_MAPERR (1) address 0x10 pid 1 "
                 "thread 2 \"work er\"\n"
                 "register rip 0x560000001010\n"
                 "register eflags 0x246\n"
                 "register err 0x6\n"
                 "register cr2 0x10\n"
                 "cbf 021d56000000101021100000\n"
                 "complete\n"
                 "module 0x560000000000-0x560000005000 build-id 0011 /nowhere/a\n"
                 "then default\n"
                 "end\n");
    expect("$SFB symbolize --swift-json log.txt >log.json 2>/dev/null; $SFB symbolize log.json "
           "2>/dev/null",
           1,
           "SIGSEGV (11) code SEGV_MAPERR (1) address 0x10 pid 1 thread 2 \"work er\" at "
           "0x0000000000000010\n"
           "thread 0 \"work er\", which crashed\n"
           "#0 0x560000001010 ? in a\n"
           "#1 0x560000002010 ? in a\n",
           "");
    expect("grep -o "
           "'\"\\(rip\\|rflags\\|err\\|cr2\\|buildId\\|path\\|baseAddress\\|endOfText\\|"
           "architecture\\)\": "
           "\"[^\"]*\"' log.json",
           0,
           "\"architecture\": \"x86_64\"\n"
           "\"rip\": \"0x0000560000001010\"\n"
           "\"rflags\": \"0x0000000000000246\"\n"
           "\"buildId\": \"0011\"\n"
           "\"path\": \"/nowhere/a\"\n"
           "\"baseAddress\": \"0x0000560000000000\"\n"
           "\"endOfText\": \"0x0000560000005000\"\n",
           "");
}
