/* Threads with equal stacks, which are shown once. */
#ifndef CLI_STACK_STACK_GROUPS_H
#define CLI_STACK_STACK_GROUPS_H

#include <stdbool.h>
#include <stddef.h>

#include <sfb/remote.h>

/* Threads of one group: [first, first + count) of `order`. */
struct stack_group {
    size_t first, count;
    bool leads;
};

struct stack_groups {
    const struct sfb_remote_thread **order; /* by group; in a group by number */
    struct stack_group *groups; /* large ones first; of one size, the one with the lowest number */
    size_t count;
};

/*
 * @param leader  its group stands first: the thread of a core that died; 0: none
 *
 * @return false: no memory. out: for stack_groups_free() in any case
 */
bool stack_groups_make(struct stack_groups *out, const struct sfb_remote_thread *threads,
                       size_t count, pid_t leader);

void stack_groups_free(struct stack_groups *groups);

#endif
