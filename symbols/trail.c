#include "symbols/trail.h"

#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "util/grow.h"

void object_trail_add(struct object_trail *t, enum object_part part, const char *place,
                      enum object_verdict verdict, const char *format, ...)
{
    struct object_try try = { part, verdict, NULL, NULL };
    va_list arguments;

    if (t->count == OBJECT_TRAIL_MAX ||
        !array_make_room(&t->tries, t->count, &t->room, sizeof *t->tries) ||
        !(try.place = strdup(place))) {
        t->lost++;
        return;
    }
    va_start(arguments, format);
    if (format && vasprintf(&try.cause, format, arguments) < 0)
        try.cause = NULL;
    va_end(arguments);
    t->tries[t->count++] = try;
}

const char *object_part_text(enum object_part part)
{
    switch (part) {
    case OBJECT_FILE: return "file";
    case OBJECT_DEBUG: return "debug";
    case OBJECT_ALT: return "alt";
    }
    return "?";
}

const char *object_verdict_text(enum object_verdict verdict)
{
    switch (verdict) {
    case OBJECT_USED: return "used";
    case OBJECT_ABSENT: return "not there";
    case OBJECT_OTHER_BUILD_ID: return "not used, another build";
    case OBJECT_NO_DEBUG: return "not used, no debug information";
    case OBJECT_UNOPENED: return "not opened";
    case OBJECT_REFUSED: return "not used";
    case OBJECT_PASSED: return "not asked";
    }
    return "?";
}

void object_trail_free(struct object_trail *t)
{
    for (size_t i = 0; i < t->count; i++) {
        free(t->tries[i].place);
        free(t->tries[i].cause);
    }
    free(t->tries);
    *t = (struct object_trail){ .count = 0 };
}
