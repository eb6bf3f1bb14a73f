/*
 * Files that are shorter than what is mapped of them: behind their end, to load is SIGBUS. A library
 * that is written over in place becomes shorter while its functions are on the stack, and a damaged
 * one can be loaded that claims more than it has.
 */
#include <dlfcn.h>
#include <elf.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include "sfb/section.h"
#include "sframe_backtrace.h"
#include "support/compiler.h"
#include "support/test.h"

enum { FRAMES = 64, PAGE = 4096 };

typedef int call_back_fn(int (*function)(void));

static const char *const libraries[] = { "frames-64", "frames-bare", "deep-unnamed" };
enum { CALLED = 2, LIBRARIES = sizeof libraries / sizeof *libraries };

static char path[64];

/* A copy that may be damaged. */
static void copy_library(const char *name)
{
    char from[512], command[1200];

    snprintf(path, sizeof path, "/tmp/sfb-cut-%d.so", (int)getpid());
    snprintf(from, sizeof from, SFB_TEST_LIBS "/lib%s.so", name);
    snprintf(command, sizeof command, "cp '%s' '%s'", from, path);
    cr_assert(eq(int, system(command), 0));
}

/* --- Cut while it is on the stack ----------------------------------------------------------------
 */

static struct {
    off_t cut;
    uint32_t flags;
    bool known; /* it was walked through before */
    bool cbf;
} now;

NOINLINE static ssize_t capture(uint32_t flags, bool cbf)
{
    struct sframe_backtrace_options options = { .size = sizeof options, .flags = flags };
    static uint8_t bytes[1024];
    void *frames[FRAMES];

    if (cbf)
        return sframe_backtrace_cbf(bytes, sizeof bytes, &options, NULL);
    if (flags)
        return sframe_backtrace_addresses(frames, FRAMES, &options, NULL);
    return sframe_backtrace(frames, FRAMES);
}

/* Called by the library. It does not return there: its code is gone. */
static int cut_and_capture(void)
{
    ssize_t count;

    if (now.known && capture(now.flags, now.cbf) < 4)
        _exit(2);
    if (truncate(path, now.cut) != 0)
        _exit(3);
    for (int i = 0; i < 3; i++) {
        count = capture(now.flags, now.cbf);
        sframe_backtrace_refresh();
    }
    _exit(count >= 2 ? 0 : 4);
}

static int run_child(void)
{
    void *library = dlopen(path, RTLD_NOW);
    call_back_fn *call_back = NULL;
    int status = 5;

    if (!library)
        return status;
    *(void **)&call_back = dlsym(library, "call_back");
    if (call_back)
        status = call_back(cut_and_capture); /* it does not come back */
    dlclose(library);
    return status;
}

static int status_of_child(void)
{
    pid_t child;
    int status;

    fflush(NULL);
    child = fork();
    if (child == 0)
        _exit(run_child());
    cr_assert(eq(int, waitpid(child, &status, 0), child));
    return status;
}

Test(cut_files, libraries_on_the_stack_are_survived)
{
    static const off_t cuts[] = { 0, 1, PAGE, 2 * PAGE, 3 * PAGE };

    for (unsigned i = 0; i < CALLED; i++) {
        for (unsigned cut = 0; cut < sizeof cuts / sizeof *cuts; cut++) {
            for (unsigned how = 0; how < 8; how++) {
                now.cut = cuts[cut];
                now.known = how & 1;
                now.cbf = how & 2;
                now.flags = how & 4 ? SFRAME_BACKTRACE_DOUBT : 0;
                /* docs/LIMITS.md: a file without any bytes, remembered from before, is believed. */
                if (now.cut == 0 && now.known && !now.flags)
                    continue;
                copy_library(libraries[i]);
                cr_expect(eq(int, status_of_child(), 0),
                          "%s, cut at %ld, known %d, cbf %d, doubt %d", libraries[i], (long)now.cut,
                          now.known, now.cbf, now.flags != 0);
                unlink(path);
            }
        }
    }
}

/* --- Headers that claim more than the file has ---------------------------------------------------
 */

/* Makes the last segment longer than the file, and a header of a type lead to behind its end. */
static bool make_it_claim_more(uint32_t type)
{
    int fd = open(path, O_RDWR | O_CLOEXEC);
    Elf64_Phdr *last = NULL, *changed = NULL;
    struct stat status;
    uint8_t *file;
    Elf64_Phdr *phdrs;

    cr_assert(fd >= 0 && fstat(fd, &status) == 0);
    file = mmap(NULL, (size_t)status.st_size, PROT_READ | PROT_WRITE, MAP_SHARED, fd, 0);
    cr_assert(file != MAP_FAILED);
    close(fd);
    phdrs = (Elf64_Phdr *)(void *)(file + ((Elf64_Ehdr *)(void *)file)->e_phoff);
    for (unsigned i = 0; i < ((Elf64_Ehdr *)(void *)file)->e_phnum; i++) {
        if (phdrs[i].p_type == PT_LOAD)
            last = &phdrs[i];
        if (phdrs[i].p_type == type)
            changed = &phdrs[i];
    }
    if (changed && last) {
        uint64_t end = ((uint64_t)status.st_size + PAGE) & ~(uint64_t)(PAGE - 1);

        /* All that is mapped of it is of the file: there is no .bss to be cleared. */
        last->p_filesz = last->p_memsz = end - last->p_offset + (uint64_t)16 * PAGE;
        changed->p_vaddr = changed->p_paddr = last->p_vaddr + (end - last->p_offset) + PAGE;
        changed->p_filesz = changed->p_memsz = 64;
    }
    munmap(file, (size_t)status.st_size);
    return changed != NULL;
}

static int load_and_refresh(void)
{
    if (!dlopen(path, RTLD_NOW))
        return 5;
    sframe_backtrace_refresh();
    return capture(0, false) >= 2 && capture(0, true) > 0 ? 0 : 6;
}

Test(cut_files, headers_that_claim_more_than_there_is_are_survived)
{
    static const uint32_t types[] = { PT_GNU_EH_FRAME, PT_NOTE, SFB_PT_GNU_SFRAME };
    char command[1024];
    unsigned tried = 0;

    for (unsigned i = 0; i < LIBRARIES; i++) {
        for (unsigned t = 0; t < sizeof types / sizeof *types; t++) {
            pid_t child;
            int status;

            copy_library(libraries[i]);
            if (make_it_claim_more(types[t])) {
                tried++;
                fflush(NULL);
                child = fork();
                if (child == 0)
                    _exit(load_and_refresh());
                cr_assert(eq(int, waitpid(child, &status, 0), child));
                cr_expect(eq(int, status, 0), "%s, type %#x", libraries[i], types[t]);
                /* And at load, before main(). */
                snprintf(command, sizeof command, "LD_PRELOAD='%s:%s' '%s'", path,
                         SFB_SHARED_LIBRARY, SFB_NOTHING);
                if (SFB_PRELOADS)
                    cr_expect(eq(int, system(command), 0), "%s, type %#x, at load", libraries[i],
                              types[t]);
            }
            unlink(path);
        }
    }
    cr_expect(le(u32, 6, tried));
    if (!SFB_PRELOADS)
        fprintf(stderr, "skipped: cut_files: at load: a sanitizer is loaded first\n");
}
