/*
 * posix_spawn(): the child inherits the mask that the program has set. Calls inside the C library, of system() and
 * popen(), are not interposed.
 */
#include <signal.h>
#include <spawn.h>
#include <stdbool.h>
#include <sys/types.h>

#include "profiler/agent/cpu/prof_signal.h"
#include "profiler/agent/interpose.h"
#include "profiler/agent/real.h"

typedef __typeof__(posix_spawn) spawn_function;

static int spawn(spawn_function *real, pid_t *pid, const char *path,
                 const posix_spawn_file_actions_t *actions, const posix_spawnattr_t *attributes,
                 char *const argv[], char *const envp[])
{
    bool held = sfb_prof_signal_hold();
    int result = real(pid, path, actions, attributes, argv, envp);

    if (held)
        sfb_prof_signal_release();
    return result;
}

SFB_INTERPOSED int posix_spawn(pid_t *pid, const char *path,
                               const posix_spawn_file_actions_t *file_actions,
                               const posix_spawnattr_t *attrp, char *const argv[],
                               char *const envp[])
{
    return spawn(sfb_real()->posix_spawn, pid, path, file_actions, attrp, argv, envp);
}

SFB_INTERPOSED int posix_spawnp(pid_t *pid, const char *file,
                                const posix_spawn_file_actions_t *file_actions,
                                const posix_spawnattr_t *attrp, char *const argv[],
                                char *const envp[])
{
    return spawn(sfb_real()->posix_spawnp, pid, file, file_actions, attrp, argv, envp);
}
