/* The entry points of what copies a text: see hooks.h. */
#ifndef SFB_RECORD_HEAP_HOOKS_TEXT_H
#define SFB_RECORD_HEAP_HOOKS_TEXT_H

#include "record/heap/hooks.h"

char *sfb_heap_strdup(const char *text, SFB_HEAP_CALLER);
char *sfb_heap_strndup(const char *text, size_t most, SFB_HEAP_CALLER);

#endif
