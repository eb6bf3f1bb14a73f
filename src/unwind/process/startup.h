/* The modules that a process starts with, which are there for as long as it is. */
#ifndef SFB_UNWIND_PROCESS_STARTUP_H
#define SFB_UNWIND_PROCESS_STARTUP_H

#include <link.h>
#include <stdbool.h>

enum { SFB_STARTUP_MAX = 1024, SFB_STARTUP_NAMES = 2 * SFB_STARTUP_MAX, SFB_STARTUP_BUCKETS = 512 };

struct sfb_startup_module {
    const ElfW(Phdr) * phdrs;
    const ElfW(Dyn) * dynamic; /* NULL: none */
    const char *name;          /* without its folder */
    const char *soname;        /* NULL: none */
    const char *strings;       /* NULL: none that can be read */
    uint64_t strings_size;     /* at least 1: the last byte is 0 */
    uint64_t bias;
    bool needed; /* by the program, or by what it needs, and so on */
};

/* 80 KiB: no variable of a function. What is not used is not touched. */
struct sfb_startup {
    unsigned count, reached_count;
    uint16_t first[SFB_STARTUP_BUCKETS]; /* of the names in a bucket */
    uint16_t next[SFB_STARTUP_NAMES];
    uint16_t reached[SFB_STARTUP_MAX]; /* modules that are needed, in the order of finding */
    struct sfb_startup_module module[SFB_STARTUP_MAX];
};

/*
 * Finds them. Those behind the first SFB_STARTUP_MAX modules are left out.
 *
 * Signals: NOT safe: it takes the loader's lock. At any time in the life of a process.
 */
void sfb_startup_find(struct sfb_startup *out);

/* @return whether the module with these program headers is one of them */
bool sfb_startup_has(const struct sfb_startup *startup, const ElfW(Phdr) * phdrs);

#endif
