/*
 * What the heap agent brings into a program: all ways to allocate, and nothing that is not interposed or its own. And
 * what its hooks call: nothing with a lock, the heap or a descriptor.
 */
#include <criterion/criterion.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "support/command.h"

static const char *const allocating[] = {
    "malloc",
    "calloc",
    "realloc",
    "reallocarray",
    "free",
    "free_sized",
    "free_aligned_sized",
    "posix_memalign",
    "aligned_alloc",
    "memalign",
    "valloc",
    "pvalloc",
    "malloc_usable_size",
    "strdup",
    "strndup",
    "mmap",
    "mmap64",
    "mremap",
    "munmap",
    "_Znwm",
    "_ZnwmRKSt9nothrow_t",
    "_ZnwmSt11align_val_t",
    "_ZnwmSt11align_val_tRKSt9nothrow_t",
    "_Znam",
    "_ZnamRKSt9nothrow_t",
    "_ZnamSt11align_val_t",
    "_ZnamSt11align_val_tRKSt9nothrow_t",
    "_ZdlPv",
    "_ZdlPvm",
    "_ZdlPvRKSt9nothrow_t",
    "_ZdlPvSt11align_val_t",
    "_ZdlPvmSt11align_val_t",
    "_ZdlPvSt11align_val_tRKSt9nothrow_t",
    "_ZdaPv",
    "_ZdaPvm",
    "_ZdaPvRKSt9nothrow_t",
    "_ZdaPvSt11align_val_t",
    "_ZdaPvmSt11align_val_t",
    "_ZdaPvSt11align_val_tRKSt9nothrow_t",
};

static const char *const others[] = { "_exit",       "_Exit",
                                      "dlclose",     "dlopen",
                                      "prctl",       "prlimit",
                                      "prlimit64",   "setrlimit",
                                      "setrlimit64", "syscall",
                                      "setuid",      "setreuid",
                                      "setresuid",   "sframe_backtrace_record_mark" };

static bool is_one_of(const char *name, const char *const *names, size_t count)
{
    for (size_t i = 0; i < count; i++)
        if (strcmp(names[i], name) == 0)
            return true;
    return false;
}

Test(heap_policy, exports_are_what_allocates_and_the_interposed_names)
{
    char *names =
        command_output("'%s' -D -P --defined-only '%s' | sed 's/[ @].*//'", SFB_NM, SFB_HEAP_AGENT);
    size_t seen = 0;

    for (char *rest = names, *name; (name = strsep(&rest, "\n"));) {
        const bool allocates = is_one_of(name, allocating, sizeof allocating / sizeof *allocating);

        seen += allocates;
        cr_expect(*name == '\0' || allocates ||
                      is_one_of(name, others, sizeof others / sizeof *others) ||
                      strncmp(name, "sframe_backtrace_heap_", 22) == 0,
                  "%s is exported", name);
    }
    cr_expect_eq(seen, sizeof allocating / sizeof *allocating);
    free(names);
}

/* What an event runs. Names with sfb_ and sframe_ are looked at by policy.imports. */
static const char *const event_objects[] = { "hook",
                                             "hooks",
                                             "hooks_map",
                                             "event",
                                             "heap_sample",
                                             "thread_state",
                                             "heap",
                                             "heap_stack",
                                             "python_objects",
                                             "__/known",
                                             "__/python/python_calls",
                                             "__/python/python_memory" };

static const struct {
    const char *name, *reason;
} allowed[] = {
    { "memcpy", "pure" },
    { "memset", "pure" },
    { "memcmp", "pure" },
    { "clock_gettime", "signal-safe by POSIX" },
    { "getpid", "signal-safe by POSIX" },
    { "kill", "signal-safe by POSIX" },
    { "prctl", "a system call, nothing else" },
    { "syscall", "a system call, nothing else" },
    { "madvise", "a system call, nothing else" },
    { "pthread_setspecific", "of a first key: a store into the thread" },
    { "__errno_location", "to keep errno" },
    { "free", "our own" },
    { "realloc", "our own" },
    { "malloc_usable_size", "our own" },
    { "mmap", "before there are threads" },
    { "getenv", "before there are threads" },
    { "strtoull", "before there are threads" },
    { "__isoc23_strtoull", "the same, by the headers of glibc 2.38" },
    { "pthread_key_create", "before there are threads" },
    { "_GLOBAL_OFFSET_TABLE_", "no function" },
    { "_PyRuntime", "no function" },
    { "PyCode_Type", "no function" },
    { "PyMem_GetAllocator", "before the interpreter starts" },
    { "PyMem_SetAllocator", "before the interpreter starts" },
    { "Py_Version", "no function" },
    { "__stack_chk_fail", "does not return" },
};

static bool is_allowed(const char *name)
{
    for (size_t i = 0; i < sizeof allowed / sizeof *allowed; i++)
        if (strcmp(allowed[i].name, name) == 0)
            return true;
    return strncmp(name, "sfb_", 4) == 0;
}

Test(heap_policy, an_event_calls_what_handlers_may)
{
    size_t seen = 0;

    for (size_t i = 0; i < sizeof event_objects / sizeof *event_objects; i++) {
        char *names =
            command_output("'%s' -u -P '%s/%s.c.o'", SFB_NM, SFB_HEAP_OBJECTS, event_objects[i]);

        for (char *rest = names, *name; (name = strsep(&rest, "\n"));) {
            name[strcspn(name, " ")] = '\0';
            seen++;
            cr_expect(*name == '\0' || is_allowed(name), "%s calls %s", event_objects[i], name);
        }
        free(names);
    }
    cr_expect_gt(seen, 20); /* nm reads them */
}

Test(heap_policy, all_is_bound_at_load)
{
    char *dynamic = command_output("'%s' -dW '%s'", SFB_READELF, SFB_HEAP_AGENT);
    char *relocations = command_output("'%s' -rW '%s'", SFB_READELF, SFB_HEAP_AGENT);

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
