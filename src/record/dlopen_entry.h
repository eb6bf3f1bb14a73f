/*
 * dlopen() itself, in dlopen_entry_*.S. The loader looks at who has called: where a name has no '/', or has $ORIGIN in
 * it, the caller's RUNPATH counts. So there it is jumped to, and not called.
 */
#ifndef SFB_RECORD_DLOPEN_ENTRY_H
#define SFB_RECORD_DLOPEN_ENTRY_H

#include <dlfcn.h>

/* @return the function to jump to, with the arguments of dlopen() */
__typeof__(dlopen) *sfb_dlopen_choose(const char *name);

#endif
