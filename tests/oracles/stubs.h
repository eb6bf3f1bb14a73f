/* Where the loaded modules have their linkage stubs. */
#ifndef SFB_ORACLES_STUBS_H
#define SFB_ORACLES_STUBS_H

#include <stdbool.h>
#include <stdint.h>

/* Looks at all modules that are loaded now; not in a handler. */
void stubs_find(void);

/* @return whether a stub is at this address; safe in a handler */
bool stubs_contain(uint64_t address);

#endif
