/* `sfb decode --lws`: notes of allocations as addresses. */
#ifndef LWS_DECODE_H
#define LWS_DECODE_H

#include "lws_note.h"
#include "tool.h"

/* Prints each note of a log as `~b#size: N, ADDRESS...`, the line of libwebsockets' own decoder. */
enum tool_exit lws_decode(const char *path, enum lws_dialect dialect);

#endif
