/* The file that is loaded into the program. */
#include <errno.h>
#include <fcntl.h>
#include <gelf.h>
#include <libelf.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/auxv.h>
#include <unistd.h>

#include "cli/record/parts.h"

/* Where this command is. Without /proc the kernel still says how it was called. */
static bool own_folder(char *out)
{
    const char *called = (const char *)getauxval(AT_EXECFN); /* NOLINT: an address in a long */
    const ssize_t size = readlink("/proc/self/exe", out, PATH_MAX - 1);
    char *slash;

    if (size > 0)
        out[size] = '\0';
    else if (!called || !realpath(called, out))
        return false;
    slash = strrchr(out, '/');
    if (slash)
        *slash = '\0';
    return slash != NULL;
}

/* Takes the names that ".." stands for off a path, so that a user reads a folder that may exist. */
static void shorten(char *path)
{
    for (char *up; (up = strstr(path, "/../")) != NULL && up > path;) {
        char *before = up;

        while (before > path && before[-1] != '/')
            before--;
        if (before == path)
            return;
        memmove(before - 1, up + 3, strlen(up + 3) + 1);
    }
}

static bool find_beside(char *path, const char *file)
{
    static const char *const places[] = { SFB_AGENT_INSTALLED, SFB_AGENT_BUILT };
    char folder[PATH_MAX] = "", at[2 * PATH_MAX];

    if (!own_folder(folder)) {
        tool_complain(TOOL_FAILED,
                      "record: /proc is not there, and the folder of sfb is not known: set "
                      "SFB_AGENT to the file of %s",
                      file);
        return false;
    }
    for (size_t i = 0; i < sizeof places / sizeof *places; i++) {
        snprintf(at, sizeof at, "%s/%s/%s", folder, places[i], file);
        if (realpath(at, path))
            return true;
    }
    snprintf(at, sizeof at, "%s/%s/", folder, SFB_AGENT_INSTALLED);
    shorten(at);
    tool_complain(TOOL_FAILED,
                  "record: the library that is loaded into the program, %s, is not in %s. It is "
                  "installed with %s/sfb ('cmake --install', or your package): install both there, "
                  "or set SFB_AGENT to its file",
                  file, at, folder);
    return false;
}

/* --- one that a user names ----------------------------------------------------------------------- */

/* @return the DT_SONAME of a library; NULL: not a library, or without one */
static const char *name_of(Elf *elf)
{
    Elf_Scn *section = NULL;
    GElf_Shdr header;
    GElf_Dyn entry;

    while ((section = elf_nextscn(elf, section)) != NULL) {
        Elf_Data *data;

        if (!gelf_getshdr(section, &header) || header.sh_type != SHT_DYNAMIC)
            continue;
        data = elf_getdata(section, NULL);
        for (int i = 0; data && gelf_getdyn(data, i, &entry) && entry.d_tag != DT_NULL; i++)
            if (entry.d_tag == DT_SONAME)
                return elf_strptr(elf, header.sh_link, entry.d_un.d_val);
    }
    return NULL;
}

/* @return the DT_SONAME of the library at a path; "": not a library, or without one; NULL: not opened, reported */
static const char *read_name(char *room, size_t size, const char *path)
{
    const int fd = open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK | O_NOCTTY);
    const char *name;
    Elf *elf;

    if (fd < 0) {
        tool_complain(TOOL_FAILED, "record: SFB_AGENT: %s: %s", path, strerror(errno));
        return NULL;
    }
    elf_version(EV_CURRENT);
    elf = elf_begin(fd, ELF_C_READ, NULL);
    name = elf ? name_of(elf) : NULL;
    snprintf(room, size, "%s", name ? name : "");
    elf_end(elf);
    close(fd);
    return room;
}

/* @return whether the agent lies beside the library that brings it with it */
static bool has_agent_beside(const char *path, const char *file)
{
    const char *slash = strrchr(path, '/');
    char other[2 * PATH_MAX];

    snprintf(other, sizeof other, "%.*s%s", slash ? (int)(slash + 1 - path) : 0, path, file);
    if (access(other, R_OK) == 0)
        return true;
    tool_complain(TOOL_FAILED, "record: SFB_AGENT: %s loads %s, which is not beside it", path,
                  file);
    return false;
}

/* The loader ignores what it cannot preload, and the program would run unrecorded. */
static bool is_agent(const char *path, bool heap)
{
    static const char *const kinds[2][2] = { { "libsfb-agent-cpu.so", "libsfb-preload-cpu.so" },
                                             { "libsfb-agent-heap.so", "libsfb-preload-heap.so" } };
    const char *const *wanted = kinds[heap], *const *other = kinds[!heap];
    char room[256];
    const char *name = read_name(room, sizeof room, path);

    if (!name)
        return false;
    if (strcmp(name, wanted[0]) == 0)
        return true;
    if (strcmp(name, wanted[1]) == 0)
        return has_agent_beside(path, wanted[0]);
    if (strcmp(name, other[0]) == 0 || strcmp(name, other[1]) == 0)
        tool_complain(TOOL_FAILED, "record: SFB_AGENT: %s records %s: name %s, or %s --heap", path,
                      heap ? "CPU time" : "the heap", wanted[0], heap ? "leave out" : "add");
    else
        tool_complain(TOOL_FAILED, "record: SFB_AGENT: %s is no agent%s%s: name the file of %s",
                      path, name[0] ? ": it is " : "", name, wanted[0]);
    return false;
}

/* The library beside it that brings the agent with it, and harms no program of another C library. */
static void prefer_preload(char *path)
{
    static const char agent[] = "libsfb-agent-", preload[] = "libsfb-preload-";
    char *slash = strrchr(path, '/'), other[PATH_MAX + sizeof preload];

    if (!slash || strncmp(slash + 1, agent, sizeof agent - 1) != 0)
        return;
    snprintf(other, sizeof other, "%.*s/%s%s", (int)(slash - path), path, preload,
             slash + sizeof agent);
    if (strlen(other) < PATH_MAX && access(other, R_OK) == 0)
        strcpy(path, other); /* NOLINT: its size was looked at */
}

bool record_find_agent(char *path, bool heap)
{
    const char *file = heap ? "libsfb-agent-heap.so" : "libsfb-agent-cpu.so";
    const char *given = getenv("SFB_AGENT");

    if (given && *given) {
        if (!realpath(given, path)) {
            tool_complain(TOOL_FAILED, "record: SFB_AGENT: %s: %s", given, strerror(errno));
            return false;
        }
        if (!is_agent(path, heap))
            return false;
    } else if (!find_beside(path, file)) {
        return false;
    }
    prefer_preload(path);
    if (path[strcspn(path, ": \t\n")] != '\0') {
        tool_complain(
            TOOL_FAILED,
            "record: the agent's path has a space or ':', which LD_PRELOAD cannot hold: %s", path);
        return false;
    }
    return true;
}
