/*
 * Words of /proc/PID/stat, by their numbers in proc(5): 3 is the state, 4 the parent, 22 the start in ticks.
 *
 * Threads, signals: safe. Inline, for agents, which link no library of this folder.
 */
#ifndef UTIL_PROC_STAT_H
#define UTIL_PROC_STAT_H

#include <stddef.h>
#include <string.h>

/*
 * Finds a word behind the name. The name, word 2, may have blanks and parentheses: the last ')' of the text ends it.
 *
 * @param text    ends in a '\0'
 * @param number  3 or more
 *
 * @return where the word begins; NULL: the text is cut off before it
 */
static inline const char *sfb_proc_stat_word(const char *text, unsigned number)
{
    const char *at = strrchr(text, ')');

    for (unsigned i = 2; at && i < number; i++) {
        at = strchr(at, ' ');
        at = at ? at + 1 : NULL;
    }
    return at;
}

#endif
