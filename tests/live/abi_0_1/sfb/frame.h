/* 0.1.0: include/sfb/frame.h of the last commit before 0.2.0, without its comments. */
#ifndef SFB_FRAME_H
#define SFB_FRAME_H
#include "api.h"
#include <stdint.h>
SFB_BEGIN_DECLS
enum sfb_frame_kind { SFB_FRAME_PC = 0, SFB_FRAME_RA = 1, SFB_FRAME_ASYNC = 2, SFB_FRAME_OMIT = 3 };
enum sfb_source {
    SFB_SOURCE_START = 0,
    SFB_SOURCE_SFRAME = 1,
    SFB_SOURCE_STUB = 2,
    SFB_SOURCE_EH_FRAME = 3,
    SFB_SOURCE_SIGNAL = 4,
    SFB_SOURCE_LIBUNWIND = 5,
    SFB_SOURCE_FRAME_POINTER = 6,
    SFB_SOURCE_COUNT
};
SFB_API const char *sfb_source_str(enum sfb_source source);
#define SFB_SOURCE_ROOM 8
struct sfb_frame {
    enum sfb_frame_kind kind;
    enum sfb_source source;
    uint64_t address;
    uint64_t sp;
    uint8_t missed[SFB_SOURCE_ROOM];
};
SFB_END_DECLS
#endif
