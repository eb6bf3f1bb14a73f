/* 0.1.0: include/sframe_backtrace.h of the last commit before 0.2.0, without its comments. */
#ifndef SFRAME_BACKTRACE_H
#define SFRAME_BACKTRACE_H
#include "sfb/api.h"
#include "sfb/frame.h"
#include "sfb/status.h"
#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>
SFB_BEGIN_DECLS
enum sframe_backtrace_flags { SFRAME_BACKTRACE_NO_LIBUNWIND = 0x1, SFRAME_BACKTRACE_DOUBT = 0x4 };
struct sframe_backtrace_options {
    size_t size;
    const void *context;
    uint32_t flags;
    uint32_t skip;
    uint32_t max_frames;
    uint32_t outermost;
    const void *stack;
    size_t stack_size;
    void *memo;
    size_t memo_size;
    uint32_t max_work;
    uint32_t zero;
};
#define SFRAME_BACKTRACE_MEMO_BASE         160
#define SFRAME_BACKTRACE_MEMO_SIZE(frames) (SFRAME_BACKTRACE_MEMO_BASE + 48 * (size_t)(frames))
struct sframe_backtrace_info {
    size_t size;
    uint32_t frames;
    uint32_t omitted;
    enum sfb_status end;
    uint32_t by_source[SFB_SOURCE_COUNT];
};
SFB_API ssize_t sframe_backtrace_cbf(void *buffer, size_t size,
                                     const struct sframe_backtrace_options *options,
                                     struct sframe_backtrace_info *info);
SFB_API ssize_t sframe_backtrace_addresses(void **buffer, size_t size,
                                           const struct sframe_backtrace_options *options,
                                           enum sfb_status *end);
SFB_API int sframe_backtrace(void **buffer, int size);
SFB_API void sframe_backtrace_refresh(void);
SFB_END_DECLS
#endif
