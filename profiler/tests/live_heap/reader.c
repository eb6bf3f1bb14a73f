/* A process whose stacks come and go, read from outside while it runs: no stack stands with another one's blocks. */
#include <criterion/criterion.h>
#include <pthread.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#include "profiler/agent/live/map.h"
#include "profiler/collector/live/live_map.h"
#include "profiler/tests/live_heap/blocks.h"
#include "profiler/tests/live_heap/named.h"
#include "support/folder.h"

enum { THREADS = 2, BLOCKS = 400, READS = 60, FREED_FIRST = 5000 };

static uint64_t draw(uint64_t *state)
{
    *state ^= *state << 13;
    *state ^= *state >> 7;
    *state ^= *state << 17;
    return *state >> 11;
}

static void *churn(void *with)
{
    uint64_t seed = 88172645463325252U + (uintptr_t)with;
    void *block[BLOCKS] = { NULL };

    for (;;) {
        void **at = &block[draw(&seed) % BLOCKS];

        if (*at)
            block_free(*at);
        *at = named_new(draw(&seed) % NAMED_SIZES, (uint32_t)(draw(&seed) % 64));
    }
    return with;
}

/* Writes the path of its table once stacks have been freed. */
static void be_the_program(int out)
{
    pthread_t thread[THREADS];

    table_begin((uint64_t)2 << 20);
    for (uintptr_t i = 0; i < THREADS; i++)
        pthread_create(&thread[i], NULL, churn, (void *)i);
    while (__atomic_load_n(&sfb_live_table.map->reclaim.freed, __ATOMIC_RELAXED) < FREED_FIRST)
        usleep(1000);
    if (write(out, sfb_live_map_path(), strlen(sfb_live_map_path()) + 1) < 0)
        _exit(1);
    for (;;)
        pause();
}

static struct named_tally read_once(const char *path)
{
    struct named_tally tally;
    struct live_map map;

    cr_assert_null(live_map_open(&map, path));
    cr_assert_null(live_map_read(&map));
    cr_expect_eq(map.sum.bad, 0, "%zu contradictions", (size_t)map.sum.bad);
    tally = named_check(&map.view, &map.sum);
    cr_expect_eq(tally.blocks, (uint64_t)map.sum.all.blocks);
    live_map_close(&map);
    return tally;
}

TestSuite(reader, .init = folder_enter, .fini = folder_remove);

Test(reader, never_takes_a_stack_for_another)
{
    char path[512] = "";
    uint64_t wrong = 0, blocks = 0;
    int ends[2];
    pid_t pid;

    setenv("XDG_RUNTIME_DIR", folder_path(), 1);
    cr_assert_eq(pipe(ends), 0);
    pid = fork();
    cr_assert(pid >= 0);
    if (pid == 0)
        be_the_program(ends[1]);
    close(ends[1]);
    cr_assert(read(ends[0], path, sizeof path - 1) > 0);
    for (int i = 0; i < READS; i++) {
        const struct named_tally tally = read_once(path);

        wrong += tally.wrong;
        blocks += tally.blocks;
    }
    kill(pid, SIGKILL);
    waitpid(pid, NULL, 0);
    close(ends[0]);
    cr_expect_eq(wrong, 0, "%zu stacks stand with blocks of another", (size_t)wrong);
    /* What changes meanwhile is left out, and that is little. */
    cr_expect(blocks > (uint64_t)READS * THREADS * BLOCKS / 4, "%zu", (size_t)blocks);
}
