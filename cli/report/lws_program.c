#include "cli/report/lws_program.h"

#include <errno.h>
#include <gelf.h>
#include <limits.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "cli/tool_reporter.h"
#include "util/regular.h"

/* What the start of a module is rounded down to in a memory map. */
#define PAGE 0x1000

/* The vaddr range of the loadable segments. @return false: no such segment */
static bool span_of(Elf *elf, uint64_t *start, uint64_t *end)
{
    size_t count = 0;
    GElf_Phdr segment;
    bool found = false;

    if (elf_getphdrnum(elf, &count) != 0)
        return false;
    for (size_t i = 0; i < count && i < INT_MAX; i++) {
        if (!gelf_getphdr(elf, (int)i, &segment) || segment.p_type != PT_LOAD ||
            segment.p_memsz == 0 || segment.p_vaddr > UINT64_MAX - segment.p_memsz)
            continue;
        if (!found || segment.p_vaddr < *start)
            *start = segment.p_vaddr;
        if (!found || segment.p_vaddr + segment.p_memsz > *end)
            *end = segment.p_vaddr + segment.p_memsz;
        found = true;
    }
    if (found)
        *start -= *start % PAGE;
    return found;
}

/* @return false after a complaint */
static bool use_module(struct lws_program *p, struct symbols *symbols, Elf *elf, const char *path,
                       const uint64_t *base, enum tool_exit *exit_status)
{
    uint64_t start = 0, end = 0;

    if (!span_of(elf, &start, &end)) {
        *exit_status = tool_complain(TOOL_BAD_DATA, "%s: it has no segment that is loaded", path);
        return false;
    }
    p->module.start = base ? *base : start;
    if (__builtin_add_overflow(p->module.start, end - start, &p->module.end)) {
        *exit_status = tool_complain(TOOL_USAGE, "%s: no program fits there: --base", path);
        return false;
    }
    p->module.path =
        realpath(path, NULL); /* absolute: a module path without a slash is not taken for a file */
    if (p->module.path && symbols_use_modules(symbols, &p->module, 1))
        return true;
    *exit_status =
        tool_complain(TOOL_USAGE, "%s: %s", path, strerror(p->module.path ? ENOMEM : errno));
    return false;
}

bool lws_program_use(struct lws_program *out, struct symbols *symbols, const char *path,
                     const uint64_t *base, enum tool_exit *exit_status)
{
    const struct reporter reporter = tool_reporter(exit_status);
    const char *cause;
    const int fd = regular_open(path, &cause);
    Elf *elf;
    bool good;

    *out = (struct lws_program){ .module = { .path = NULL } };
    if (fd < 0) {
        *exit_status = tool_complain(TOOL_USAGE, "%s: %s", path, cause);
        return false;
    }
    elf_version(EV_CURRENT);
    elf = elf_begin(fd, ELF_C_READ, NULL);
    if (elf && elf_kind(elf) == ELF_K_ELF) {
        good = use_module(out, symbols, elf, path, base, exit_status);
    } else if (base) {
        *exit_status =
            tool_misused(&tool_report, "--base is for a program, and %s is not one", path);
        good = false;
    } else {
        good = symbols_add_maps(symbols, path, &reporter) && symbols_use_process(symbols);
    }
    elf_end(elf);
    close(fd);
    return good;
}

void lws_program_free(struct lws_program *program)
{
    free(program->module.path);
}
