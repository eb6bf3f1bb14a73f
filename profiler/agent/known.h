/* Hashes of what the recorder was sent: stacks, and functions of an interpreter. */
#ifndef PROFILER_AGENT_KNOWN_H
#define PROFILER_AGENT_KNOWN_H

#include <stdbool.h>
#include <stdint.h>

/* Signals: safe. */
bool sfb_known_has(uint64_t hash);

/* After its record is published. If all candidate entries are taken, it is sent again each time. */
void sfb_known_add(uint64_t hash);

/* The same of a function: it takes the entry of another hash, which is sent again. Many stacks name a function. */
void sfb_known_keep(uint64_t hash);

#endif
