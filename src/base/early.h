/*
 * Code that runs at load, before other code that may capture a backtrace: also before programs' own
 * constructors, when this library is linked statically.
 *
 * Only for static functions without an earlier declaration: with one, gcc 12 drops the priority.
 * tests/policy/constructors.c checks the built library.
 */
#ifndef SFB_BASE_EARLY_H
#define SFB_BASE_EARLY_H

#define SFB_EARLY __attribute__((constructor(101)))

#endif
