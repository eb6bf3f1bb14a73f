/* sfb record --every: a spool of recordings, and their uploads, over ends of the receiver and of the recorder itself. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "support/folder.h"
#include "support/run.h"
#include "support/test.h"

TestSuite(record_continuous, .init = folder_enter, .fini = folder_remove);

/* Shell: functions of all tests. A recording without CPU time and waits is not sent; `full` counts the others. A program runs until something is there: no test waits for a time. */
#define SHELL                                                                                      \
    "SFB='%s'; RECEIVER='%s'; exec 2>&1\n"                                                         \
    "count() { n=0; for f in \"$@\"; do test -e \"$f\" && n=$((n+1)); done; echo $n; }\n"          \
    "full() { n=0; for f in \"$@\"; do test -n \"$(\"$SFB\" report --rows $f)\" && n=$((n+1)); "   \
    "done; echo $n; }\n"                                                                           \
    "record() { \"$SFB\" record --every 0.2 --spool s --rate 97 \"$@\"; }\n"                       \
    "receive() { rm -f port; \"$RECEIVER\" port log \"$@\" & R=$!\n"                               \
    "  until test -s port; do sleep 0.01; done; URL=http://127.0.0.1:$(cat port)/in; }\n"          \
    "trap 'test -z \"$R\" || kill $R' EXIT\n"                                                      \
    "cat >until <<'X'\n#!/bin/sh\n"                                                                \
    "ready() { n=0; for f in s/$1; do test -e \"$f\" && n=$((n+1)); done; test $n -ge $2; }\n"     \
    "until ready \"$1\" $2; do :; done; exit 7\nX\nchmod +x until\n"

static void expect_output(const char *line, const char *want)
{
    struct run run = run_line(SHELL "%s", SFB_TOOL, SFB_RECEIVER, line);

    cr_assert(eq(int, run.status, 0), "%s: status %d: %s%s", line, run.status, run.out, run.err);
    run_expect_text(line, run.out, want);
    run_free(&run);
}

Test(record_continuous, fills_a_spool)
{
    expect_output("record --label service=shop -- ./until '*.sfbr' 3; echo status $?\n"
                  "for f in s/*.sfbr; do \"$SFB\" report --check $f || exit 1; done >checks\n"
                  "test $(grep -c ': whole: ' checks) = $(count s/*.sfbr) && echo all whole\n"
                  "\"$SFB\" report --no-pager s/*.sfbr | grep -c 'labels: service=shop' >labels\n"
                  "test $(cat labels) = $(count s/*.sfbr) && echo all labelled\n"
                  "count s/*.part; stat -c %A s; ls s/*.sfbr | head -1 | sed -E "
                  "'s/s.*-[0-9]{8}T[0-9]{6}[.][0-9]{3}Z/NAME/'",
                  "status 7\nall whole\nall labelled\n0\ndrwx------\nNAME.sfbr\n");
}

/* Away, without an answer, asking to come again: each recording arrives once. */
Test(record_continuous, uploads_each_once)
{
    expect_output(
        "echo 'Authorization: Bearer secret' >token; chmod 600 token\n"
        "receive 503 drop 429\n"
        "record --upload $URL --upload-headers token -- ./until '*.sent.sfbr' 3 >said 2>&1; echo "
        "status "
        "$?\n"
        "grep -v ' secret' said | grep -oE 'HTTP status 503: no.033' | head -1\n"
        "test $(grep -c '^200 ' log) = $(full s/*.sent.sfbr) && echo as many answers\n"
        "grep '^200 ' log | sort | uniq -d | wc -l; head -3 log | cut -d' ' -f1,2,3\n"
        "cut -d' ' -f4 log | head -4 | sort -u | wc -l; ls s | grep -c '[0-9]Z.sfbr$'; true",
        "status 7\nHTTP status 503: no\\033\nas many answers\n0\n"
        "503 /in Bearer_secret\ndrop /in Bearer_secret\n429 /in Bearer_secret\n1\n0\n");
}

/* A program that only sleeps has waits; and the process that uploads is killed. */
Test(record_continuous, uploads_waits_and_is_not_ended_by_a_kill)
{
    expect_output(
        "receive\n"
        "\"$SFB\" record --every 0.2 --wall --spool s --upload $URL -- sleep 1000 2>said & M=$!\n"
        "arrived() { grep -c '^200 ' log; }\n"
        "children() { for c in $(cat /proc/$M/task/$M/children); do case $(readlink /proc/$c/exe) "
        "in "
        "$1) echo $c;; esac; done; }\n"
        "until test $(arrived) -ge 3; do sleep 0.01; done\n"
        "kill -9 $(children '*/sfb'); seen=$(arrived)\n"
        "until test $(arrived) -ge $((seen+2)); do sleep 0.01; done\n"
        "kill $(children '*sleep*'); wait $M; echo status $?\n"
        "grep -c 'uploads was killed by signal 9: it is started again' said\n"
        "test $(arrived) -ge $(full s/*.sent.sfbr) && echo all; count s/*Z.sfbr",
        "status 143\n1\nall\n0\n");
}

Test(record_continuous, keeps_what_is_refused)
{
    expect_output(
        "receive 400\n"
        "record --upload $URL --upload-as pprof -- ./until '*.sent.sfbr' 2 >said 2>&1; echo status "
        "$?\n"
        "count s/*.refused.sfbr; grep -c 'not uploaded: HTTP status 400' said; grep -c '^400' log",
        "status 7\n1\n1\n1\n");
}

/* The recorder is killed while the receiver is away: the next one sends all, the half-written recording too. */
Test(record_continuous, loses_nothing_over_restarts)
{
    expect_output(
        "receive; { kill $R; wait $R; R=; } 2>/dev/null\n"
        "\"$SFB\" record --every 0.2 --spool s --upload $URL -- sh -c 'echo $$ >pid; exec ./until "
        "\"no\" 1' >said 2>&1 & M=$!\n"
        "until test $(count s/*Z.sfbr) -ge 2 -a $(count s/*.part) = 1; do sleep 0.01; done\n"
        "{ kill -9 $M; wait $M; kill $(cat pid); } 2>/dev/null; left=$(count s/*Z.sfbr s/*.part)\n"
        "rm -f port; receive\n"
        "record --upload $URL -- ./until '*.sent.sfbr' $((left+1)); echo status $?\n"
        "test $(grep -c '^200 ' log) = $(full s/*.sent.sfbr) && echo as many answers\n"
        "grep '^200 ' log | sort | uniq -d | wc -l; count s/*Z.sfbr s/*.part",
        "status 7\nas many answers\n0\n0\n");
}

Test(record_continuous, does_not_outgrow_its_spool)
{
    expect_output(
        "record --keep 8k -- sh -c './until \"*.sfbr\" 4; first=$(ls s | grep sfbr | head -1)\n"
        "while test -e s/$first; do :; done'; echo status $?\n"
        "test $(cat s/*.sfbr | wc -c) -le 8192 && echo small; test $(count s/*.sfbr) -ge 1 && echo "
        "some",
        "status 0\nsmall\nsome\n");
}

Test(record_continuous, guards_its_headers_and_its_spool)
{
    expect_output(
        "echo 'A: b' >open; chmod 644 open; echo no >bad; chmod 600 bad; echo 'A: b' >good; chmod "
        "600 good\n"
        "record --upload http://127.0.0.1:1/ --upload-headers open -- true 2>&1 | sed 's/; "
        "see.*//'\n"
        "record --upload http://127.0.0.1:1/ --upload-headers bad -- true\n"
        "record --upload http://example.org/ --upload-headers good -- true\n"
        "record --upload http://localhost.example.org/ --upload-headers good -- true\n"
        "record --upload http://localhost:1@127.0.0.2:1/ --upload-headers good -- true\n"
        "record --upload ftp://127.0.0.1/ -- true\n"
        "record --upload 'http://' -- true; record --upload 'http://exa mple/' -- true\n"
        "mkdir t; \"$SFB\" record --every 0.2 --spool t -- sh -c '\"$0\" record --every 1 --spool "
        "t -- true; "
        "echo status $?' \"$SFB\"\n"
        "\"$SFB\" record --every 1 -- true 2>&1 | sed 's/; see.*//'\n"
        "head -c 8193 /dev/zero | tr '\\0' x >large; chmod 600 large\n"
        "record --upload http://127.0.0.1:1/ --upload-headers large -- true\n"
        "for o in '--max-size 5k --keep 8k' '--engine timer' '--max-frames 99'; do record $o -- "
        "true "
        "2>&1 | sed 's/; see.*//'; done; record --pid 4194305\n"
        "\"$SFB\" record --every 1 --spool s --heap -- true 2>&1 | sed 's/; see.*//'",
        "sfb: record: open: others may read it: chmod 600, and owned by this user\n"
        "sfb: record: bad: a line is no header, as 'Authorization: Bearer TOKEN'\n"
        "sfb: record: --upload-headers goes with https://: others could read them on the way\n"
        "sfb: record: --upload-headers goes with https://: others could read them on the way\n"
        "sfb: record: --upload-headers goes with https://: others could read them on the way\n"
        "sfb: record: --upload takes an https:// or http:// address\n"
        "sfb: record: --upload: not an address: 'http://'\n"
        "sfb: record: --upload: not an address: 'http://exa mple/'\n"
        "sfb: record: t: another sfb record has this spool\nstatus 125\n"
        "sfb: record: --every goes with --spool DIR\n"
        "sfb: record: large: larger than 8192 bytes\n"
        "sfb: record: --max-size is of one recording: at most half of --keep\n"
        "sfb: record: --every records from outside: leave out --engine, or --engine looks\n"
        "sfb: record: --every records from outside: leave out --max-frames\n"
        "sfb: record: there is no process 4194305\n"
        "sfb: record: --every goes without --heap\n");
}
