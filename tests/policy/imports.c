/*
 * The library imports nothing that a signal handler may not call.
 *
 * Checked for each object of the static library, because that is where a call can be blamed: what
 * runs while a stack is captured may use a short list of functions; what runs only at load time, or
 * when asked to look at modules, has a list of its own with a reason for each name.
 */
#include <criterion/criterion.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "support/command.h"

#define ANY NULL

static const struct {
    const char *object; /* of the static library; ANY: all of them */
    const char *symbol;
    const char *reason;
} allowed[] = {
    { ANY, "memcpy", "pure; compilers call it by themselves" },
    { ANY, "memmove", "pure; compilers call it by themselves" },
    { ANY, "memset", "pure; compilers call it by themselves" },
    { ANY, "memcmp", "pure; compilers call it by themselves" },
    { ANY, "bcmp", "pure; clang makes it of memcmp() == 0" },
    { ANY, "__stack_chk_fail", "does not return" },
    { ANY, "_GLOBAL_OFFSET_TABLE_", "no function" },

    /* The capture path: documented as safe in signal handlers, lock-free. */
    { "loader.c.o", "_dl_find_object", "capture path; signal-safe by its documentation" },

    /* Constructors and sframe_backtrace_refresh(), which says that it is not for handlers. */
    { "loader.c.o", "dl_iterate_phdr", "sframe_backtrace_refresh() only" },
    { "loader.c.o", "getauxval", "constructor only" },
    { "loader_state.c.o", "dl_iterate_phdr", "constructor only" },
    { "loader_state.c.o", "dlvsym", "constructor only" },
    { "program.c.o", "readlink", "constructor only" },
    { "program.c.o", "getauxval", "constructor only" },
    { "program.c.o", "strnlen", "constructor only" },
    { "startup.c.o", "dl_iterate_phdr", "constructor only" },
    { "startup.c.o", "getauxval", "constructor only" },
    { "startup.c.o", "strcmp", "constructor only" },
    { "startup.c.o", "strrchr", "constructor only" },
    { "known_stack.c.o", "dl_iterate_phdr", "constructor only" },
    { "known_stack.c.o", "getauxval", "constructor only" },
    { "known_stack.c.o", "getrlimit", "constructor only" },
    { "known_stack.c.o", "getrlimit64", "constructor only; getrlimit() with 64-bit offsets" },

    { "source_libunwind.c.o", "__errno_location", "to keep errno; an address, no allocation" },

    /* Installing the crash handler, and alternate stacks, which say that they are not for handlers.
       What the handler itself needs it asks the kernel for: its objects are not in this list. */
    { "install.c.o", "sigaction", "installing only" },
    { "install.c.o", "sigfillset", "installing only" },
    { "install.c.o", "sigdelset", "installing only" },
    { "install.c.o", "fstat", "installing only" },
    { "install.c.o", "fstat64", "installing only; fstat() with 64-bit offsets" },
    { "install.c.o", "gettid", "installing only" },
    { "stack.c.o", "__errno_location", "to keep errno; an address, no allocation" },
    { "stack.c.o", "sigaltstack", "alternate stacks only" },
    { "stack.c.o", "getauxval", "alternate stacks only" },
    { "stack.c.o", "mmap", "alternate stacks only" },
    { "stack.c.o", "mmap64", "alternate stacks only; mmap() with 64-bit offsets" },
    { "stack.c.o", "mprotect", "alternate stacks only" },
    { "stack.c.o", "munmap", "alternate stacks only" },

    /* The heap agent's, if it is in the process: it says that it may be called in handlers. */
    { "blocks.c.o", "sframe_backtrace_heap_find", "weak; signal-safe by its documentation" },

    /* Loads libunwind in a constructor, so that a handler need not. */
    { "libunwind_load.c.o", "dlopen", "constructor only" },
    { "libunwind_load.c.o", "dlsym", "constructor only" },
    { "libunwind_load.c.o", "getauxval", "constructor only" },
};

/* What the compiler's start-up files add to any shared library, all weak. */
static const char *const start_files[] = { "__cxa_finalize", "__gmon_start__",
                                           "_ITM_deregisterTMCloneTable",
                                           "_ITM_registerTMCloneTable" };

/* The table is the promise: nobody may add these to it. */
static const char *const never[] = { "malloc", "calloc",  "realloc",        "free",
                                     "abort",  "syscall", "__tls_get_addr", "__errno_location" };

static bool may_import(const char *object, const char *symbol)
{
    for (size_t i = 0; i < sizeof allowed / sizeof *allowed; i++)
        if ((!object || !allowed[i].object || strcmp(allowed[i].object, object) == 0) &&
            strcmp(allowed[i].symbol, symbol) == 0)
            return true;
    return false;
}

/* Whether nm's text in POSIX format ("archive[object]: name type ...") defines a name. */
static bool defines(const char *definitions, const char *symbol)
{
    size_t size = strlen(symbol);

    for (const char *at = definitions; (at = strstr(at, symbol)); at += size)
        if (at - definitions >= 2 && at[-1] == ' ' && at[-2] == ':' && at[size] == ' ')
            return true;
    return false;
}

Test(imports, of_each_object_are_allowed)
{
    char *defined = command_output("'%s' -A -P -g --defined-only '%s'", SFB_NM, SFB_STATIC_LIBRARY);
    char *undefined =
        command_output("'%s' -A -P --undefined-only '%s'", SFB_NM, SFB_STATIC_LIBRARY);
    unsigned seen = 0;

    for (char *rest = undefined, *line; (line = strsep(&rest, "\n"));) {
        char *object = strrchr(line, '['), *end = strstr(line, "]: ");
        char *symbol;

        if (!object || !end || end < object)
            continue;
        object++;
        *end = '\0';
        symbol = end + 3;
        symbol[strcspn(symbol, " ")] = '\0';
        seen++;
        cr_expect(may_import(object, symbol) || defines(defined, symbol), "%s imports %s", object,
                  symbol);
    }
    /* An archive that nm cannot read must not pass for one that imports nothing. */
    cr_expect_gt(seen, 10);
    free(undefined);
    free(defined);
}

Test(imports, the_capture_path_is_never_given_more)
{
    for (size_t i = 0; i < sizeof allowed / sizeof *allowed; i++)
        for (size_t j = 0; j < sizeof never / sizeof *never; j++)
            cr_expect(allowed[i].object || strcmp(allowed[i].symbol, never[j]) != 0, "%s",
                      never[j]);
}

Test(imports, of_the_shared_library_are_those_of_its_objects)
{
    char *undefined =
        command_output("'%s' -D -P --undefined-only '%s'", SFB_NM, SFB_SHARED_LIBRARY);

    for (char *rest = undefined, *line; (line = strsep(&rest, "\n"));) {
        bool ok = false;

        line[strcspn(line, " @")] = '\0';
        if (*line == '\0')
            continue;
        for (size_t i = 0; i < sizeof start_files / sizeof *start_files; i++)
            ok |= strcmp(line, start_files[i]) == 0;
        cr_expect(ok || may_import(ANY, line), "the shared library imports %s", line);
    }
    free(undefined);
}

Test(imports, are_bound_before_main_and_need_libc_only)
{
    char *dynamic = command_output("'%s' -dW '%s'", SFB_READELF, SFB_SHARED_LIBRARY);

    cr_expect_not_null(strstr(dynamic, "BIND_NOW"), "%s", dynamic);
    cr_expect_null(strstr(dynamic, "TEXTREL"), "%s", dynamic);
    for (char *rest = dynamic, *line; (line = strsep(&rest, "\n"));)
        if (strstr(line, "(NEEDED)"))
            cr_expect(strstr(line, "[libc.so.6]") || strstr(line, "[ld-linux"), "%s", line);
    free(dynamic);
}

Test(imports, go_through_no_lazy_slot)
{
    char *relocations = command_output("'%s' -rW '%s'", SFB_READELF, SFB_SHARED_LIBRARY);

    for (char *rest = relocations, *line; (line = strsep(&rest, "\n"));) {
        bool ok = !strstr(line, "JUMP_SLO");

        /* On AArch64 start-up files call through such slots: at load and unload only. */
        for (size_t i = 0; i < sizeof start_files / sizeof *start_files; i++)
            ok |= strstr(line, start_files[i]) != NULL;
        cr_expect(ok, "%s", line);
    }
    free(relocations);
}

/*
 * Thread-local variables of a dlopen()ed library are allocated on first use, in a handler too; but
 * for those in the static block, which is there before the thread is. That has a little room for
 * libraries that come later, which all of them share.
 */
Test(imports, include_96_thread_local_bytes_in_the_static_block)
{
    char *headers = command_output("'%s' -lW '%s'", SFB_READELF, SFB_SHARED_LIBRARY);
    char *relocations = command_output("'%s' -rW '%s'", SFB_READELF, SFB_SHARED_LIBRARY);
    unsigned segments = 0;

    for (char *rest = headers, *line; (line = strsep(&rest, "\n"));) {
        unsigned long offset, address, physical, in_file, size;

        cr_expect(!strstr(line, "GNU_STACK") || !strstr(line, "RWE"), "executable stack: %s", line);
        if (sscanf(line, " TLS %lx %lx %lx %lx %lx", &offset, &address, &physical, &in_file,
                   &size) != 5)
            continue;
        segments++;
        cr_expect(in_file == 0, "%s", line);
        cr_expect(size <= 96, "%s", line); /* 40 of a walk, 56 of the crash handler */
    }
    cr_expect(segments == 1);
    /* By its distance from the thread pointer, and not by a module's number or a function. */
    cr_expect(strstr(relocations, "TPOFF") || strstr(relocations, "TPREL"), "%s", relocations);
    cr_expect_null(strstr(relocations, "DTPMOD"), "%s", relocations);
    cr_expect_null(strstr(relocations, "TLSDESC"), "%s", relocations);
    free(headers);
    free(relocations);
}
