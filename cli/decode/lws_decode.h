/* `sfb decode --lws`: notes of allocations as addresses. */
#ifndef CLI_DECODE_LWS_DECODE_H
#define CLI_DECODE_LWS_DECODE_H

#include "cli/tool.h"
#include "contrib/lws/lws_note.h"

/* Prints each note of a log as `~b#size: N, ADDRESS...`, the line of libwebsockets' own decoder. */
enum tool_exit lws_decode(const char *path, enum lws_dialect dialect);

#endif
