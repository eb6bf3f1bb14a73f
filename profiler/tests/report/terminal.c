/* sfb report on a terminal: width, colours, bars, the pager; and names that would do something to it. */
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include "profiler/tests/report/made_heap.h"
#include "support/run.h"
#include "support/test.h"

/* Runs a line of shell on a terminal of its own. @return the terminal's other end */
static int start_on_terminal(unsigned short columns, const char *line, pid_t *child)
{
    const int master = posix_openpt(O_RDWR | O_NOCTTY);
    const struct winsize size = { .ws_row = 24, .ws_col = columns };
    int slave;

    cr_assert(master >= 0 && grantpt(master) == 0 && unlockpt(master) == 0);
    slave = open(ptsname(master), O_RDWR | O_NOCTTY | O_CLOEXEC);
    cr_assert(slave >= 0 && ioctl(slave, TIOCSWINSZ, &size) == 0);
    fflush(NULL);
    *child = fork();
    cr_assert(le(i32, 0, *child));
    if (*child == 0) {
        setsid();
        ioctl(slave, TIOCSCTTY, 0);
        for (int i = 0; i < 3; i++)
            dup2(slave, i);
        close(master);
        execl("/bin/sh", "sh", "-c", line, (char *)NULL);
        _exit(127);
    }
    close(slave);
    return master;
}

/* The same, and keeps what it shows, without the terminal's carriage returns. */
static char *run_on_terminal(unsigned short columns, const char *line, int *status)
{
    size_t count = 0, room = 1 << 20;
    char *out = calloc(1, room);
    pid_t child;
    const int master = start_on_terminal(columns, line, &child);

    cr_assert_not_null(out);
    for (ssize_t n; count + 1 < room; count += (size_t)n) {
        n = read(master, out + count, room - count - 1);
        if (n < 0 && errno == EINTR)
            n = 0;
        else if (n <= 0)
            break; /* EIO: the last one who had it open has ended */
    }
    close(master);
    cr_assert(waitpid(child, status, 0) == child);
    out[count] = '\0';
    count = 0;
    for (const char *at = out; *at; at++)
        if (*at != '\r')
            out[count++] = *at;
    out[count] = '\0';
    return out;
}

static char *show(unsigned short columns, const char *environment, const char *options)
{
    char line[2048];
    int status;
    char *out;

    snprintf(line, sizeof line,
             "env TERM=xterm LC_ALL=C.UTF-8 TZ=UTC PAGER=cat %s '%s' report %s %s", environment,
             SFB_TOOL, options, made_path);
    out = run_on_terminal(columns, line, &status);
    cr_expect(eq(int, status, 0), "%s: %s", line, out);
    return out;
}

/* Columns of the longest line of a table; what is in it is of one column each, but for colours. */
static size_t width_of(const char *text)
{
    size_t most = 0, width = 0;

    for (; *text; text++) {
        if (*text == '\n') {
            most = width > most ? width : most;
            width = 0;
        } else if (*text == '\033') {
            text += strcspn(text, "m");
        } else if (((unsigned char)*text & 0xc0) != 0x80) {
            width++;
        }
    }
    return most;
}

static void make_long_names(void)
{
    static const char text[] =
        "7000 100 std::vector<std::map<std::string, int>, std::allocator<int> >::insert(int, "
        "long)\n"
        "7100 100 "
        "a_very_long_name_of_a_function_in_plain_c_that_has_no_brackets_at_all_but_goes_on\n"
        "7200 100 \xe6\xbc\xa2\xe5\xad\x97\xe6\xbc\xa2\xe5\xad\x97\xe6\xbc\xa2\xe5\xad\x97\xe6\xbc"
        "\xa2\xe5\xad\x97\xe6\xbc\xa2\xe5\xad\x97\xe6\xbc\xa2\xe5\xad\x97\xe6\xbc\xa2\xe5\xad\x97"
        "\n";
    const struct sfb_recording_file file = { 1, "perf-101.map", text, sizeof text - 1 };
    const uint64_t callers[] = { 0x7110, 0x7210 };

    made_begin();
    made_sample(1, made_stack(0x7010, callers, 2, false), 1500000000, 5000000, SFB_END);
    made_sample(1, made_stack(0x7110, NULL, 0, false), 1500000000, 3000000, SFB_END);
    made_sample(1, made_stack(0x7210, NULL, 0, false), 1500000000, 2000000, SFB_END);
    cr_assert(eq(int, sfb_recording_put_file(made_writer, &file), SFB_OK));
    made_end("the program ended");
}

/* Chinese letters are two columns wide, and are counted as one above: half of them at most. */
Test(terminal, cuts_lines_to_its_width)
{
    static const char *const views[] = { "--top", "--tree", "--callers vector", "--threads",
                                         "--by thread" };

    make_long_names();
    for (size_t i = 0; i < sizeof views / sizeof *views; i++)
        for (unsigned short columns = 40; columns < 200; columns += 13) {
            char *out = show(columns, "", views[i]);

            cr_expect(le(sz, width_of(out), columns), "%s in %u columns: %s", views[i], columns,
                      out);
            free(out);
        }
    unlink(made_path);
}

/* Functions of one namespace are told apart in narrow terminals, too: their last component stays. */
Test(terminal, keeps_the_last_component)
{
    static const char text[] =
        "7000 100 outermost::inner_namespace::Worker<std::string>::first(int, long, char const*)\n"
        "7100 100 outermost::inner_namespace::Worker<std::string>::second(int, long, char "
        "const*)\n";
    const struct sfb_recording_file file = { 1, "perf-101.map", text, sizeof text - 1 };

    made_begin();
    made_sample(1, made_stack(0x7010, NULL, 0, false), 1500000000, 5000000, SFB_END);
    made_sample(1, made_stack(0x7110, NULL, 0, false), 1500000000, 3000000, SFB_END);
    cr_assert(eq(int, sfb_recording_put_file(made_writer, &file), SFB_OK));
    made_end("the program ended");
    for (unsigned short columns = 40; columns <= 200; columns += 20) {
        char *out = show(columns, "", "--top --color=never");

        cr_expect(strstr(out, "first") && strstr(out, "second"), "%u columns: %s", columns, out);
        cr_expect(columns < 200 || strstr(out, "::second(int, long, char const*)"), "%s", out);
        free(out);
    }
    unlink(made_path);
}

/* What to try is copied: it stays one line. */
static void leave_out_advice(char *text)
{
    for (char *line; (line = strstr(text, "\n    try: ")) != NULL;)
        memmove(line, line + 1 + strcspn(line + 1, "\n"),
                strlen(line + 1 + strcspn(line + 1, "\n")) + 1);
}

/* All views; words of the overview go on in a further line, with the same words. */
Test(terminal, views_fit_from_60_to_200_columns)
{
    static const char *const views[] = { "",
                                         "--top",
                                         "--tree",
                                         "--callers report_inner",
                                         "--threads",
                                         "--by line",
                                         "--by file",
                                         "--list report_inner",
                                         "--by module",
                                         "--by process" };
    char *wide, *narrow;

    made_all(NULL);
    for (size_t i = 0; i < sizeof views / sizeof *views; i++)
        for (unsigned short columns = 60; columns <= 200; columns += 35) {
            char *out = show(columns, "", views[i]);

            leave_out_advice(out);
            cr_expect(le(sz, width_of(out), columns), "%s in %u columns: %s", views[i], columns,
                      out);
            free(out);
        }
    wide = show(200, "", "--color=never");
    narrow = show(60, "", "--color=never");
    wide[strcspn(wide, "\n")] = '\0'; /* the command */
    cr_expect(strstr(narrow, wide) != NULL, "%s", narrow);
    cr_expect(strstr(narrow, "\n      ") != NULL, "no line goes on: %s", narrow);
    free(wide);
    free(narrow);
    unlink(made_path);
}

/* Errors and the words of units make tables of heaps wider. */
Test(terminal, cuts_lines_of_heaps_to_its_width)
{
    static const char *const views[] = { "--top --value allocated", "--tree",
                                         "--callers report_inner",  "--threads",
                                         "--by thread --blocks",    "--top --unit bytes" };

    made_heap_write(&(struct made_heap){ .events = true, .rate = 4000 }, NULL);
    for (size_t i = 0; i < sizeof views / sizeof *views; i++)
        for (unsigned short columns = 40; columns < 200; columns += 13) {
            char *out = show(columns, "", views[i]);

            cr_expect(le(sz, width_of(out), columns), "%s in %u columns: %s", views[i], columns,
                      out);
            free(out);
        }
    unlink(made_path);
}

Test(terminal, cuts_names_where_they_say_least)
{
    char *out;

    make_long_names();
    out = show(80, "", "--top --color=never");
    cr_expect(strstr(out, "  std::vector<...>::insert(int, long)\n") != NULL, "%s", out);
    cr_expect(strstr(out, "   50.00     50.00  std::vector<") != NULL, "%s", out);
    cr_expect(strstr(out, "_has_no_brackets_at_all_but_goes_on\n") != NULL, "%s", out);
    free(out);
    unlink(made_path);
}

Test(terminal, has_colours_and_bars)
{
    static const struct {
        const char *environment, *options;
        bool colours, bars;
    } cases[] = {
        { "", "--top", true, true },
        { "NO_COLOR=1", "--top", false, true },
        { "NO_COLOR=", "--top", true, true },
        { "NO_COLOR=1", "--top --color", true, true },
        { "TERM=dumb", "--top", false, false },
        { "TERM=dumb", "--top --color=always", true, true },
        { "", "--top --color=never", false, false },
        { "", "--folded", false, false },
    };

    made_all("the program ended");
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        char *out = show(80, cases[i].environment, cases[i].options);

        cr_expect(eq(int, strchr(out, '\033') != NULL, cases[i].colours), "%s %s: %s",
                  cases[i].environment, cases[i].options, out);
        cr_expect(eq(int, strstr(out, "\u2588") != NULL, cases[i].bars), "%s %s: %s",
                  cases[i].environment, cases[i].options, out);
        free(out);
    }
    unlink(made_path);
}

Test(terminal, has_plain_letters_without_utf_8)
{
    char *out;

    made_all("the program ended");
    out = show(80, "LC_ALL=C", "--top");
    cr_expect(strstr(out, "######") != NULL && strstr(out, "\u2588") == NULL, "%s", out);
    free(out);
    unlink(made_path);
}

/* Where it is no terminal, nothing is cut or coloured, whatever the environment says. */
Test(terminal, is_asked_for_only_where_there_is_one)
{
    struct run run;

    make_long_names();
    run = run_line("env TERM=xterm COLUMNS=40 PAGER='sed s/^/paged:/' '%s' report %s", SFB_TOOL,
                   made_path);
    cr_expect(eq(int, run.status, 0), "%s", run.err);
    cr_expect(strchr(run.out, '\033') == NULL && strstr(run.out, "paged:") == NULL, "%s", run.out);
    cr_expect(strstr(run.out,
                     "std::vector<std::map<std::string, int>, std::allocator<int> >::insert"
                     "(int, long)\n") != NULL,
              "%s", run.out);
    run_free(&run);
    unlink(made_path);
}

/* --- The pager --------------------------------------------------------------------------------- */

Test(terminal, has_a_pager)
{
    char *out;

    made_all("the program ended");
    out = show(80, "PAGER='sed s/^/paged:/'", "");
    cr_expect(strstr(out, "paged:./program 'a") != NULL, "%s", out);
    free(out);
    out = show(80, "PAGER='sed s/^/paged:/'", "--no-pager");
    cr_expect(strstr(out, "paged:") == NULL && strstr(out, "./program 'a") != NULL, "%s", out);
    free(out);
    out = show(80, "PAGER='echo $LESS-'", "");
    cr_expect(strstr(out, "FRX-\n") != NULL, "%s", out);
    free(out);
    out = show(80, "LESS=S PAGER='echo $LESS-'", "");
    cr_expect(strstr(out, "S-\n") != NULL, "%s", out);
    free(out);
    out = show(80, "TERM=dumb PAGER='sed s/^/paged:/'", "");
    cr_expect(strstr(out, "paged:") == NULL, "%s", out);
    free(out);
    unlink(made_path);
}

/* A reader who stops early is no error; a pager that is not there is done without. */
Test(terminal, does_without_a_pager)
{
    char *out;

    made_all("the program ended");
    out = show(80, "PAGER='head -n 1'", "--color=never");
    cr_expect(strstr(out, "./program 'a") != NULL && strstr(out, "sfb:") == NULL, "%s", out);
    free(out);
    out = show(80, "PAGER=/nowhere/pager", "--color=never");
    cr_expect(strstr(out, "hottest stack") != NULL, "%s", out);
    free(out);
    out = show(80, "sh -c 'unset PAGER; PATH=/nowhere exec \"$0\" \"$@\"'", "--color=never");
    cr_expect(strstr(out, "hottest stack") != NULL && strstr(out, "less") == NULL, "%s", out);
    free(out);
    out = show(80, "PAGER=", "--color=never");
    cr_expect(strstr(out, "hottest stack") != NULL, "%s", out);
    free(out);
    unlink(made_path);
}

/* --- Names that would do something ------------------------------------------------------------- */

/* U+202E turns the letters behind it around; a linter reads literals. */
static const char turned[] = { (char)0xe2, (char)0x80, (char)0xae, '\0' };

/* Letters and line ends, and what colours need. */
static void expect_harmless(const char *text, const char *what)
{
    for (const char *at = text; *at; at++)
        if (at[0] == '\033') {
            const size_t size = strspn(at + 2, "0123456789");

            cr_assert(at[1] == '[' && at[2 + size] == 'm', "%s: %s", what, at);
        } else {
            const unsigned char byte = (unsigned char)at[0];

            cr_assert(byte == '\n' || (byte >= 0x20 && byte != 0x7f), "%s: %s", what, at);
        }
    cr_expect(strstr(text, turned) == NULL, "%s: %s", what, text);
}

Test(terminal, is_not_moved_by_names)
{
    static const char *const views[] = { "",          "--tree",      "--threads", "--by thread",
                                         "--by line", "--callers .", "--list .",  "--diff --top" };
    const char begin[] = "7000 100 \033]0;title\a\033[2J", end[] = "\x9b;31m;<script>";
    char *text = calloc(1, 20000), thread[32];
    struct sfb_recording_file file = { 1, "perf-101.map", text, 0 };

    cr_assert(text != NULL);
    sprintf(text, "%s%s%s", begin, turned, end);
    snprintf(thread, sizeof thread, "\033[2J\n%sname", turned);
    memset(text + strlen(text), 'x', 10000);
    strcat(text, "\r\n7100 100 <<(((\\\n");
    file.size = strlen(text);
    made_begin();
    made_thread(2, 1, thread);
    made_sample(1, made_stack(0x7010, NULL, 0, false), 1500000000, 5000000, SFB_END);
    made_sample(2, made_stack(0x7110, NULL, 0, false), 1500000000, 5000000, SFB_END);
    cr_assert(eq(int, sfb_recording_put_file(made_writer, &file), SFB_OK));
    made_end("the program ended");
    for (size_t i = 0; i < sizeof views / sizeof *views; i++) {
        char twice[256];
        char *out;

        snprintf(twice, sizeof twice, "%s %s", views[i],
                 strncmp(views[i], "--diff", 6) == 0 ? made_path : "");
        out = show(100, "", twice);
        expect_harmless(out, views[i]);
        cr_expect(le(sz, width_of(strstr(out, "%") ? strstr(out, "%") : out), 100), "%s: %s",
                  views[i], out);
        free(out);
    }
    free(text);
    unlink(made_path);
}

/* Reads what is shown until it has a text. @return false: it ended before */
static bool wait_for_text(int master, const char *text)
{
    static char out[1 << 16];
    size_t count = 0;

    for (ssize_t n; count + 1 < sizeof out; count += (size_t)n) {
        n = read(master, out + count, sizeof out - count - 1);
        if (n < 0 && errno == EINTR)
            n = 0;
        else if (n <= 0)
            return false;
        out[count + (size_t)n] = '\0';
        if (strstr(out, text))
            return true;
    }
    return false;
}

/* A report that has to wait says for what, and the line goes away: here until its pipe has a reader. */
Test(terminal, says_what_takes_long)
{
    char folder[] = "/tmp/sfb-report-slow-XXXXXX", pipe[64], line[512], bytes[4096];
    int master, reader, status;
    pid_t child;

    cr_assert(mkdtemp(folder) != NULL);
    snprintf(pipe, sizeof pipe, "%s/rows", folder);
    cr_assert(mkfifo(pipe, 0600) == 0);
    made_all("the program ended");
    snprintf(line, sizeof line, "exec env TERM=xterm '%s' report --rows=%s %s", SFB_TOOL, pipe,
             made_path);
    master = start_on_terminal(80, line, &child);
    cr_assert(wait_for_text(master, "\r\033[Ksfb: writing /tmp/sfb-report-slow-"));
    reader = open(pipe, O_RDONLY);
    cr_assert(reader >= 0);
    for (ssize_t n; (n = read(reader, bytes, sizeof bytes)) != 0;)
        cr_assert(n > 0 || errno == EINTR);
    cr_expect(wait_for_text(master, "\r\033[K"));
    cr_assert(waitpid(child, &status, 0) == child);
    cr_expect(eq(int, status, 0));
    close(reader);
    close(master);
    unlink(pipe);
    rmdir(folder);
    unlink(made_path);
}

/* The browser gets the page's path, and nothing of it is part of the report. */
Test(terminal, opens_the_page_in_a_browser)
{
    char folder[] = "/tmp/sfb-report-open-XXXXXX", want[128];
    struct run run;

    cr_assert(mkdtemp(folder) != NULL);
    made_all("the program ended");
    run = run_line("cd %s && mkfifo opened && printf '#!/bin/sh\\necho noise; echo \"$1\" "
                   ">opened\\n' >browser && "
                   "chmod +x browser && TMPDIR=%s BROWSER=./browser '%s' report --open %s && read "
                   "page <opened && "
                   "ls -l $page && grep -c '<script id=\"data\"' $page",
                   folder, folder, SFB_TOOL, made_path);
    cr_expect(eq(int, run.status, 0), "%s", run.err);
    cr_expect(strncmp(run.out, "-rw-------", 10) == 0 && strstr(run.out, ".html\n1\n"), "%s",
              run.out);
    cr_expect(strncmp(run.err, "sfb: page: /tmp/sfb-report-open-", 32) == 0, "%s", run.err);
    run_free(&run);
    /* A list, whose first command is not there; its words; a name that is like an option. */
    run = run_line("cd %s && printf '#!/bin/sh\nprintf \"<%%%%s>\" \"$@\" >opened\n' >browser && "
                   "BROWSER=\"./nothing -x:./browser 'a b' --tab=%%s:./third\" '%s' report --open "
                   "--html -p.html %s && cat opened",
                   folder, SFB_TOOL, made_path);
    cr_expect(eq(int, run.status, 0), "%s", run.err);
    snprintf(want, sizeof want, "<a b><--tab=%s/-p.html>", folder);
    run_expect_text("words of a browser", run.out, want);
    run_free(&run);
    run = run_line("cd %s && TMPDIR=%s BROWSER=./nothing '%s' report --open --html p.html %s; echo "
                   "$?; ls p.html; "
                   "rm -r %s",
                   folder, folder, SFB_TOOL, made_path, folder);
    run_expect_text("no browser", run.out, "2\np.html\n");
    run_expect_text("no browser", run.err,
                    "sfb: --open: ./nothing: No such file or directory; the page is p.html\n");
    run_free(&run);
    unlink(made_path);
}
