/*
 * What the agent brings into a program: the names that it interposes and its own, and nothing else. And what its
 * capture path calls: nothing with a lock, the heap or a descriptor.
 */
#include <criterion/criterion.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "support/command.h"

static const char *const exported[] = { "_Exit",
                                        "__ppoll_chk",
                                        "epoll_pwait",
                                        "epoll_pwait2",
                                        "ppoll",
                                        "pselect",
                                        "sigaltstack",
                                        "posix_spawn",
                                        "posix_spawnp",
                                        "prctl",
                                        "prlimit",
                                        "prlimit64",
                                        "setrlimit",
                                        "setrlimit64",
                                        "syscall",
                                        "sigsuspend",
                                        "__sysv_signal",
                                        "_exit",
                                        "bsd_signal",
                                        "dlclose",
                                        "dlopen",
                                        "execl",
                                        "execle",
                                        "execlp",
                                        "execv",
                                        "execve",
                                        "execveat",
                                        "execvp",
                                        "execvpe",
                                        "fexecve",
                                        "__monstartup",
                                        "moncontrol",
                                        "monstartup",
                                        "profil",
                                        "pthread_create",
                                        "pthread_sigmask",
                                        "sframe_backtrace_record_mark",
                                        "sframe_backtrace_record_start",
                                        "sframe_backtrace_record_stop",
                                        "sigaction",
                                        "sigblock",
                                        "siggetmask",
                                        "sighold",
                                        "sigignore",
                                        "siginterrupt",
                                        "signal",
                                        "sigprocmask",
                                        "sigrelse",
                                        "sigset",
                                        "sigsetmask",
                                        "ssignal",
                                        "sysv_signal",
                                        "thrd_create" };

/* What runs in the handler, and what it may call. Names with sfb_ and sframe_ are looked at by policy.imports. */
static const char *const handler_objects[] = { "agent",
                                               "cpu/ring_writer",
                                               "cpu/timer",
                                               "cpu/cpu_sample",
                                               "modules",
                                               "cpu/prof_action",
                                               "cpu/prof_signal",
                                               "cpu/thread_life",
                                               "cpu/alternate",
                                               "cpu/prof_wait",
                                               "cpu/weight",
                                               "space",
                                               "python/python_calls",
                                               "python/python_memory" };

static const struct {
    const char *name, *reason;
} allowed[] = {
    { "memcpy", "pure" },
    { "memset", "pure" },
    { "memcmp", "pure" },
    { "clock_gettime", "signal-safe by POSIX" },
    { "getpid", "signal-safe by POSIX" },
    { "getauxval", "reads what the kernel gave at the start" },
    { "kill", "signal-safe by POSIX" },
    { "prctl", "a system call, nothing else" },
    { "syscall", "a system call, nothing else" },
    { "__errno_location", "to keep errno" },
    { "sigfillset", "pure; signal-safe by POSIX" },
    { "sigemptyset", "pure; signal-safe by POSIX" },
    { "sigaddset", "pure; signal-safe by POSIX" },
    { "sigdelset", "pure; signal-safe by POSIX" },
    { "sigismember", "pure; signal-safe by POSIX" },
    { "sigorset", "pure" },
    { "_GLOBAL_OFFSET_TABLE_", "no function" },
    { "_PyRuntime", "no function: an interpreter's state, where there is one" },
    { "PyCode_Type", "no function: the interpreter's, too" },
    { "Py_Version", "no function: the interpreter's, too" },
    { "__stack_chk_fail", "does not return" },
};

static bool is_allowed(const char *name)
{
    for (size_t i = 0; i < sizeof allowed / sizeof *allowed; i++)
        if (strcmp(allowed[i].name, name) == 0)
            return true;
    return strncmp(name, "sfb_", 4) == 0 || strncmp(name, "sframe_backtrace_", 17) == 0;
}

Test(record_policy, exports_are_the_interposed_names)
{
    char *names =
        command_output("'%s' -D -P --defined-only '%s' | sed 's/[ @].*//'", SFB_NM, SFB_AGENT);
    size_t seen = 0;

    for (char *rest = names, *name; (name = strsep(&rest, "\n"));) {
        bool known = *name == '\0';

        for (size_t i = 0; i < sizeof exported / sizeof *exported; i++)
            known |= strcmp(name, exported[i]) == 0;
        seen += *name != '\0';
        cr_expect(known, "%s is exported", name);
    }
    cr_expect_eq(seen, sizeof exported / sizeof *exported);
    free(names);
}

Test(record_policy, the_capture_path_calls_what_handlers_may)
{
    size_t seen = 0;

    for (size_t i = 0; i < sizeof handler_objects / sizeof *handler_objects; i++) {
        char *names =
            command_output("'%s' -u -P '%s/%s.c.o'", SFB_NM, SFB_AGENT_OBJECTS, handler_objects[i]);

        for (char *rest = names, *name; (name = strsep(&rest, "\n"));) {
            name[strcspn(name, " ")] = '\0';
            seen++;
            cr_expect(*name == '\0' || is_allowed(name), "%s calls %s", handler_objects[i], name);
        }
        free(names);
    }
    cr_expect_gt(seen, 20); /* nm reads them */
}

Test(record_policy, all_is_bound_at_load)
{
    char *dynamic = command_output("'%s' -dW '%s'", SFB_READELF, SFB_AGENT);
    char *relocations = command_output("'%s' -rW '%s'", SFB_READELF, SFB_AGENT);

    cr_expect_not_null(strstr(dynamic, "BIND_NOW"));
    cr_expect_null(strstr(dynamic, "TEXTREL"));
    cr_expect_null(strstr(relocations, "DTPMOD"));
    cr_expect_null(strstr(relocations, "TLSDESC"));
    for (char *rest = dynamic, *line; (line = strsep(&rest, "\n"));)
        if (strstr(line, "(NEEDED)"))
            cr_expect(strstr(line, "[libc.so.6]") || strstr(line, "[ld-linux"), "%s", line);
    free(dynamic);
    free(relocations);
}
