/* A signal handler copies registers and a stack. They are walked later, when those functions have returned. */
#include <sfb/cbf.h>
#include <sfb/copied.h>
#include <sfb/walk.h>
#include <signal.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

static uint8_t bytes[1024], cbf[512];
static struct sfb_copied_stack copy = { .bytes = bytes, .size = sizeof bytes };

static void on_signal(int number, siginfo_t *info, void *context)
{
    (void)number, (void)info;
    sfb_context_from_ucontext(&copy.registers, context);
    copy.address = copy.registers.reg[SFB_CONTEXT_X86_64 ? 7 : 31]; /* sp, by DWARF's numbers */
    memcpy(bytes, (const void *)copy.address, sizeof bytes);
}

__attribute__((noinline)) static int inner(void)
{
    return raise(SIGUSR1) + 1;
}

__attribute__((noinline)) static int outer(void)
{
    return inner() + 1;
}

/* What is mapped where: the walk reads the tables of these files. */
static void map_files(struct sfb_copied_space *space)
{
    char line[512], path[400], rights[5];
    FILE *maps = fopen("/proc/self/maps", "r");
    struct sfb_copied_mapping m = { .path = path };

    while (fgets(line, sizeof line, maps))
        if (sscanf(line, "%lx-%lx %4s %lx %*s %*s %399s", &m.start, &m.end, rights, &m.offset,
                   path) == 5) {
            m.executable = rights[2] == 'x';
            sfb_copied_space_map(space, &m);
        }
    fclose(maps);
}

int main(void)
{
    struct sfb_copied_files *files = sfb_copied_files_open();
    struct sfb_copied_space *space = sfb_copied_space_open(files, NULL);
    static struct sigaction action = { .sa_sigaction = on_signal, .sa_flags = SA_SIGINFO };
    struct sfb_copied_backtrace found;
    static char command[64];

    sigaction(SIGUSR1, &action, NULL);
    outer();
    map_files(space);
    if (sfb_copied_walk(space, &copy, &found, cbf, sizeof cbf) != SFB_OK)
        return 1;
    snprintf(command, sizeof command, "sfb symbolize --pid %d", getpid());
    FILE *sfb = popen(command, "w");
    fwrite(cbf, 1, found.size, sfb);
    pclose(sfb);
    sfb_copied_space_close(space);
    sfb_copied_files_close(files);
    return found.end != SFB_END;
}
