#include "profiler/report/text/names_advice.h"

#include <errno.h>
#include <fcntl.h>
#include <libelf.h>
#include <limits.h>
#include <spawn.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#include "symbols/build_id.h"
#include "symbols/candidate.h"
#include "symbols/search.h"
#include "util/base_name.h"
#include "util/regular.h"

/* --- The package of a file ------------------------------------------------------------------------ */

/* dpkg-query takes a name as a pattern. */
static bool is_plain(const char *path)
{
    return path[strcspn(path, "*?[\\")] == '\0';
}

/* @return a pipe with what `dpkg-query -S A B` prints, without its complaints; NULL: it cannot be run */
static FILE *ask_dpkg(char *a, char *b, pid_t *pid)
{
    char program[] = "dpkg-query", option[] = "--search", locale[] = "LC_ALL=C";
    char *const arguments[] = { program, option, a, b, NULL }, *const environment[] = { locale,
                                                                                        NULL };
    posix_spawn_file_actions_t actions;
    FILE *from = NULL;
    int ends[2];

    if (pipe2(ends, O_CLOEXEC) != 0)
        return NULL;
    posix_spawn_file_actions_init(&actions);
    posix_spawn_file_actions_adddup2(&actions, ends[1], STDOUT_FILENO);
    posix_spawn_file_actions_addopen(&actions, STDERR_FILENO, "/dev/null", O_WRONLY, 0);
    if (posix_spawnp(pid, arguments[0], &actions, NULL, arguments, environment) == 0)
        from = fdopen(ends[0], "r");
    posix_spawn_file_actions_destroy(&actions);
    close(ends[1]);
    if (!from)
        close(ends[0]);
    return from;
}

/* "libc6:amd64: /lib/..." @return false: the line names no package */
static bool take_package(char *out, size_t room, const char *line)
{
    const size_t size = strcspn(line, ":, ");

    if (size == 0 || size >= room || line[size] == ' ' || line[size] == '\0')
        return false;
    memcpy(out, line, size);
    out[size] = '\0';
    return true;
}

/* @return whether a package has the file, by one of its names: /lib may be a link to /usr/lib */
static bool find_package(char *out, size_t room, const char *path)
{
    char own[PATH_MAX], other[PATH_MAX + 8], *line = NULL;
    size_t line_room = 0;
    bool found = false;
    pid_t pid = 0;
    FILE *from;

    if (!is_plain(path) || strlen(path) >= sizeof own)
        return false;
    strcpy(own, path); /* NOLINT: its size was looked at */
    if (strncmp(own, "/usr/", 5) == 0)
        snprintf(other, sizeof other, "%s", own + 4);
    else
        snprintf(other, sizeof other, "/usr%s", own);
    from = ask_dpkg(own, other, &pid);
    if (!from)
        return false;
    while (getline(&line, &line_room, from) > 0)
        if (!found && strncmp(line, "diversion by ", 13) != 0)
            found = take_package(out, room, line);
    free(line);
    fclose(from);
    while (waitpid(pid, NULL, 0) < 0 && errno == EINTR)
        continue;
    return found;
}

/* --- The file ------------------------------------------------------------------------------------- */

/* What is here of a module. */
struct local {
    bool there, same, has_names;
};

static struct local look(const char *path, const struct object_build_id *wanted)
{
    const char *cause;
    const int fd = regular_open(path, &cause);
    struct local local = { .there = fd >= 0 };
    struct object_build_id own = { .size = 0 };
    Elf *elf = NULL;

    elf_version(EV_CURRENT);
    if (fd >= 0)
        elf = elf_begin(fd, ELF_C_READ_MMAP, NULL);
    if (elf && elf_kind(elf) == ELF_K_ELF) {
        object_build_id_of(&own, elf);
        local.same = wanted->size == 0 || object_build_id_equal(wanted, &own);
        local.has_names = object_has_section(elf, ".symtab");
    }
    elf_end(elf);
    if (fd >= 0)
        close(fd);
    return local;
}

static bool has_debug_file(const struct object_build_id *id)
{
    char name[OBJECT_BUILD_ID_PATH], path[sizeof OBJECT_DEBUG_FOLDER + sizeof name];

    if (!object_build_id_path(name, id, ".debug"))
        return false;
    snprintf(path, sizeof path, "%s/%s", OBJECT_DEBUG_FOLDER, name);
    return access(path, R_OK) == 0;
}

/* Where files of other machines, and of other versions, come from. */
static void tell_where(char out[REPORT_ADVICE_SIZE], const char *path, const char *state,
                       const struct object_build_id *id)
{
    char text[OBJECT_BUILD_ID_TEXT];

    object_build_id_text(text, id);
    if (id->size > 0)
        snprintf(out, REPORT_ADVICE_SIZE,
                 "--symbol-path with a folder that has %.200s, or --debuginfod: %s; its build-id "
                 "is %s",
                 sfb_base_name(path), state, text);
    else
        snprintf(out, REPORT_ADVICE_SIZE, "--symbol-path with a folder that has %.200s: %s",
                 sfb_base_name(path), state);
}

enum report_advice report_names_advice(const char *path, const uint8_t *build_id,
                                       size_t build_id_size, char out[REPORT_ADVICE_SIZE])
{
    struct object_build_id id = { .size = 0 };
    char package[256];
    struct local local;

    if (path[0] != '/')
        return REPORT_ADVICE_NONE;
    object_build_id_set(&id, build_id, build_id_size);
    local = look(path, &id);
    if (!local.there || !local.same) {
        tell_where(out, path, local.there ? "the file here is another one" : "it is not here", &id);
        return REPORT_ADVICE_TEXT;
    }
    if (local.has_names || has_debug_file(&id)) {
        snprintf(out, REPORT_ADVICE_SIZE,
                 "--top, which has its offsets: %.200s has symbols, and none for this code",
                 sfb_base_name(path));
        return REPORT_ADVICE_TEXT;
    }
    if (find_package(package, sizeof package, path)) {
        /* libc6 alone has a package of its own kind; all others are of the archive of debug packages. */
        snprintf(out, REPORT_ADVICE_SIZE, "%s-%s", package,
                 strcmp(package, "libc6") == 0 ? "dbg" : "dbgsym");
        return REPORT_ADVICE_PACKAGE;
    }
    snprintf(out, REPORT_ADVICE_SIZE, "%.200s built with -g and not stripped", sfb_base_name(path));
    return REPORT_ADVICE_TEXT;
}
