/* Reads the stack of a child that sleeps. In an emulator there is no ptrace: then the program is only linked. */
#include <signal.h>
#include <stdio.h>
#include <sys/wait.h>
#include <unistd.h>

#include <sfb/remote.h>
#include <sframe_backtrace.h>

/* Names of functions in the archive, and of this program as well. */
int object_open(void);
int remote_walk(void);

int object_open(void)
{
    return 0;
}

int remote_walk(void)
{
    return object_open();
}

static int look_at(pid_t pid)
{
    const struct sfb_remote_options options = { .size = sizeof options };
    const struct sfb_remote_thread *threads;
    struct sfb_remote_fault fault;
    struct sfb_remote *remote = sfb_remote_open(pid, &fault);
    size_t count = 0, frames = 0;
    enum sfb_status end = SFB_OK;

    if (remote && sfb_remote_read(remote, &options, &fault)) {
        threads = sfb_remote_threads(remote, &count);
        frames = count == 1 ? threads->frame_count : 0;
        end = count == 1 ? threads->end : SFB_OK;
        printf("%zu threads, %zu frames, %s\n", count, frames, sfb_status_str(end));
    } else {
        printf("not read: %s\n", fault.why);
    }
    sfb_remote_close(remote);
    return frames > 2 && end == SFB_END ? 0 : 1;
}

int main(void)
{
    const pid_t pid = fork();
    int result;

    if (pid == 0)
        for (;;)
            pause();
    result = look_at(pid);
    kill(pid, SIGKILL);
    waitpid(pid, NULL, 0);
    return result + remote_walk();
}
