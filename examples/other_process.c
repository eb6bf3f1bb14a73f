/* Prints the stacks of another process, as addresses: other_process PID. */
#include <inttypes.h>
#include <sfb/remote.h>
#include <stdio.h>
#include <stdlib.h>

static void print(const struct sfb_remote_thread *thread)
{
    printf("thread %d, %s, %s\n", (int)thread->tid,
           thread->how == SFB_REMOTE_ASLEEP ? "not stopped" : "stopped for a moment",
           thread->end == SFB_END ? "whole" : sfb_status_str(thread->end));
    for (size_t i = 0; i < thread->frame_count; i++)
        printf("  0x%" PRIx64 "\n", thread->frames[i].address);
}

int main(int argc, char **argv)
{
    struct sfb_remote_fault fault = { "no process given" };
    struct sfb_remote *remote = argc == 2 ? sfb_remote_open(atoi(argv[1]), &fault) : NULL;
    const struct sfb_remote_thread *threads;
    size_t count;

    if (!remote || !sfb_remote_read(remote, NULL, &fault)) {
        printf("not read: %s\n", fault.why);
        sfb_remote_close(remote);
        return 1;
    }
    threads = sfb_remote_threads(remote, &count);
    for (size_t i = 0; i < count; i++)
        print(&threads[i]);
    sfb_remote_close(remote);
    return 0;
}
