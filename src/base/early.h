/*
 * Code that runs at load, before other code that may want a backtrace: before programs' own
 * constructors, too, when this library is linked statically.
 */
#ifndef SFB_BASE_EARLY_H
#define SFB_BASE_EARLY_H

#define SFB_EARLY __attribute__((constructor(101)))

#endif
