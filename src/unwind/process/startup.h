/* The modules that a process starts with: they stay mapped until it ends. */
#ifndef SFB_UNWIND_PROCESS_STARTUP_H
#define SFB_UNWIND_PROCESS_STARTUP_H

#include <link.h>
#include <stdbool.h>

enum { SFB_STARTUP_MAX = 1024, SFB_STARTUP_NAMES = 2 * SFB_STARTUP_MAX, SFB_STARTUP_BUCKETS = 512 };

struct sfb_startup_module {
    const ElfW(Phdr) * phdrs;
    const ElfW(Dyn) * dynamic; /* NULL: missing */
    const char *name;          /* without its folder */
    const char *soname;        /* NULL: missing */
    const char *strings;       /* NULL: missing or unreadable */
    uint64_t strings_size;     /* at least 1: the last byte is 0 */
    uint64_t bias;
    bool needed; /* by the program, directly or through other modules */
};

/* 80 KiB: too large for a stack. Unused pages are not touched. */
struct sfb_startup {
    unsigned count, reached_count;
    uint16_t first[SFB_STARTUP_BUCKETS]; /* of the names in a bucket */
    uint16_t next[SFB_STARTUP_NAMES];
    uint16_t reached[SFB_STARTUP_MAX]; /* needed modules, in the order of finding */
    struct sfb_startup_module module[SFB_STARTUP_MAX];
};

/*
 * Finds the startup modules among the first SFB_STARTUP_MAX modules. May be called at any time.
 *
 * Signals: NOT safe: it takes the loader's lock.
 */
void sfb_startup_find(struct sfb_startup *out);

/* @return whether the module with these program headers is a startup module */
bool sfb_startup_has(const struct sfb_startup *startup, const ElfW(Phdr) * phdrs);

#endif
