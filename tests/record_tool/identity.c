/* Who is who: processes whose numbers, clocks and programs are not what they seem. */
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#include "record_tool/recorded.h"
#include "recorder/tasks.h"
#include "support/folder.h"
#include "support/test.h"

TestSuite(record_identity, .init = folder_enter, .fini = folder_remove);

/* Their numbers are more than a page of text. */
Test(record_identity, of_many_children)
{
    enum { COUNT = 1000 };
    static pid_t made[COUNT], found[2 * COUNT];
    size_t count, right = 0;

    for (size_t i = 0; i < COUNT; i++) {
        made[i] = fork();
        if (made[i] == 0) {
            pause();
            _exit(0);
        }
    }
    count = sfb_recorder_children_of(getpid(), found, 2 * COUNT);
    for (size_t i = 0; i < COUNT; i++)
        for (size_t j = 0; j < count; j++)
            right += found[j] == made[i];
    for (size_t i = 0; i < COUNT; i++)
        if (made[i] > 0)
            kill(made[i], SIGKILL);
    while (wait(NULL) > 0)
        continue;
    cr_expect_eq(right, COUNT);
    cr_expect_eq(count, COUNT);
}
