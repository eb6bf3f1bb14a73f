/*
 * Addresses all over a large debug file: libdw keeps what it reads for as long as the file is open, so the command opens it
 * anew. Its memory is bounded, its answers are those of one address at a time, and in the order of the input.
 */
#include <fcntl.h>
#include <stdlib.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

#include "support/folder.h"
#include "support/run.h"
#include "support/test.h"

TestSuite(tool_large_file, .init = folder_enter, .fini = folder_remove);

/* A unit of inlined functions, and copies of it whose symbols have other names: `big`, and its functions in `all`, shuffled. */
static const char make[] =
    "for i in $(seq 250); do\n"
    "    echo \"struct s$i { int a, b[$i]; };\"\n"
    "    echo \"static inline int i$i(struct s$i *s, int x) { return s->a += x * s->b[x & 7]; }\"\n"
    "    echo \"int f$i(struct s$i *s, int x) { for (int k = 0; k < x; k++) x += i$i(s, k) ^ "
    "i$i(s, x); return x; }\"\n"
    "done >u.c && '%sgcc' -g -O2 -c u.c && echo 'int main(void) { return 0; }' >m.c &&\n"
    "for i in $(seq 400); do '%sobjcopy' --prefix-symbols=c${i}_ u.o c$i.o || exit 1; done &&\n"
    "'%sgcc' -no-pie m.c c*.o -o big && rm c*.o &&\n"
    "'%snm' big | sed -nE 's/^0*([0-9a-f]+) T c[0-9]+_f.*/\\1/p' | shuf --random-source=big >all";

/* @return its largest resident memory, in KiB */
static long symbolize_all(void)
{
    const pid_t pid = fork();
    struct rusage used;
    int status;

    cr_assert(pid >= 0);
    if (pid == 0) {
        if (freopen("all", "r", stdin) && freopen("out", "w", stdout))
            execl(SFB_TOOL, SFB_TOOL, "symbolize", "--object", "big", (char *)NULL);
        _exit(127);
    }
    cr_assert(eq(int, wait4(pid, &status, 0, &used), pid));
    cr_assert(eq(int, status, 0));
    return used.ru_maxrss;
}

Test(tool_large_file, takes_bounded_memory)
{
    enum { BASE = 54 << 10, GROWTH = 96 << 10 }; /* KiB; read once, all takes 190 MiB */
    struct run run =
        run_line(make, SFB_TOOL_PREFIX, SFB_TOOL_PREFIX, SFB_TOOL_PREFIX, SFB_TOOL_PREFIX);
    long most;

    cr_assert(eq(int, run.status, 0), "%s", run.err);
    run_free(&run);
    most = symbolize_all();
    cr_expect(lt(long, most, BASE + GROWTH), "%ld KiB", most);
    run = run_line("cut -d' ' -f1 out | uniq | "
                   "sed s/0x// | cmp - all && for a in $(shuf -n 12 --random-source=big all); do\n"
                   "'%s' symbolize --object big $a >one && grep -A 3 \"^0x$a \" out | head -n $(wc "
                   "-l <one) | cmp - one || echo $a; done",
                   SFB_TOOL);
    cr_expect(eq(int, run.status, 0), "%s%s", run.out, run.err);
    run_free(&run);
}
