/*
 * What a recorded program may do to the recorder by the memory that both share.
 *
 *     record-tool-hostile_program numberless    two processes that say they are number 0
 */
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "profiler/protocol/shared.h"

static struct sfb_shared *find_session(void)
{
    FILE *maps = fopen("/proc/self/maps", "re");
    unsigned long address = 0;
    char line[512];

    while (maps && address == 0 && fgets(line, sizeof line, maps))
        if (strstr(line, "memfd:sfb-record") && sscanf(line, "%lx", &address) != 1)
            address = 0;
    if (maps)
        fclose(maps);
    return (struct sfb_shared *)address; /* NOLINT: the kernel prints it as a number */
}

/* @return 0, when the recorder has given both slots back */
static int be_numberless(struct sfb_shared *shared)
{
    enum { FIRST = 10, COUNT = 2 };
    struct sfb_shared_process *slots =
        (struct sfb_shared_process *)(void *)((uint8_t *)shared + SFB_SHARED_PROCESSES_AT);
    const pid_t recorder = getppid();

    for (int i = FIRST; i < FIRST + COUNT; i++) {
        slots[i].pid = 0;
        __atomic_store_n(&slots[i].state, SFB_SLOT_LIVE, __ATOMIC_RELEASE);
    }
    __atomic_fetch_add(&shared->wake, 1, __ATOMIC_SEQ_CST);
    for (int i = FIRST; i < FIRST + COUNT; i++)
        while (__atomic_load_n(&slots[i].state, __ATOMIC_ACQUIRE) != SFB_SLOT_FREE)
            if (getppid() != recorder)
                return 3; /* it has died */
    return 0;
}

int main(int argc, char **argv)
{
    struct sfb_shared *shared = find_session();

    if (!shared)
        return 2;
    return argc == 2 && strcmp(argv[1], "numberless") == 0 ? be_numberless(shared) : 1;
}
