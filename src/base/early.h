/*
 * Code that runs at load, before other code that may want a backtrace: before programs' own
 * constructors, too, when this library is linked statically.
 *
 * For static functions that were not declared before: gcc 12 forgets the priority of one that was.
 * tests/policy/constructors.c looks at what was built.
 */
#ifndef SFB_BASE_EARLY_H
#define SFB_BASE_EARLY_H

#define SFB_EARLY __attribute__((constructor(101)))

#endif
