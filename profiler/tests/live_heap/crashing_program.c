/*
 * A program that crashes with a pointer into a block in a register: crashing_program inside|overrun|outside|freed|moved.
 * Its crash report goes to stderr.
 */
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>

#include "sframe_backtrace_crash.h"

/* Uses what it has freed: that is the point. */
#pragma GCC diagnostic ignored "-Wpragmas"
#pragma GCC diagnostic ignored "-Wunknown-warning-option"
#pragma GCC diagnostic ignored "-Wuse-after-free"

#define ALONE __attribute__((noinline))

struct pearl {
    char text[600]; /* no register of the crash has this offset by chance */
    volatile long *where;
};

ALONE static struct pearl *make_pearl(void)
{
    struct pearl *p = malloc(sizeof *p);

    if (!p)
        exit(3);
    memset(p, 0, sizeof *p);
    p->where = (volatile long *)(uintptr_t)0x10;
    return p;
}

ALONE static void drop_pearl(struct pearl *p)
{
    free(p);
    __asm__ volatile("" ::: "memory"); /* no tail call */
}

/* The block that follows keeps it from growing in place. */
ALONE static void move_pearl(struct pearl *p)
{
    static void *volatile behind, *volatile moved;

    behind = malloc(600);
    moved = realloc(p, 100000);
    if (!behind || !moved)
        exit(3);
}

ALONE static long look_into(volatile long **where)
{
    return **where + (long)(uintptr_t)where;
}

int main(int argc, char **argv)
{
    static struct pearl outside = { .where = (volatile long *)(uintptr_t)0x10 };
    const char *way = argc > 1 ? argv[1] : "";
    struct pearl *p = strcmp(way, "outside") == 0 ? &outside : make_pearl();
    const struct rlimit no_core = { 0, 0 };

    setrlimit(RLIMIT_CORE, &no_core);
    if (sframe_backtrace_install_crash_handler(NULL) != SFB_OK)
        return 2;
    if (strcmp(way, "freed") == 0)
        drop_pearl(p);
    if (strcmp(way, "moved") == 0)
        move_pearl(p);
    if (strcmp(way, "overrun") == 0)
        memset((char *)p + sizeof *p, 'x', 8);
    return look_into(&p->where) == 7;
}
