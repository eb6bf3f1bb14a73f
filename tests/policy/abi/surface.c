/*
 * All that a program can see of the stable headers, as variables: `check` here compares their types
 * with those of the committed dumps. (The library itself would not do: its front doors are written
 * in assembly, and have no types.)
 */
#include "sfb/cbf.h"
#include "sfb/frame.h"
#include "sfb/status.h"
#include "sframe_backtrace.h"
#include "sframe_backtrace_crash.h"

/* One for each function that the shared library exports; `check` has the list. */
#define FUNCTION(name) __typeof__(name) *abi_##name

FUNCTION(sframe_backtrace);
FUNCTION(sframe_backtrace_addresses);
FUNCTION(sframe_backtrace_cbf);
FUNCTION(sframe_backtrace_image_map);
FUNCTION(sframe_backtrace_refresh);
FUNCTION(sframe_backtrace_version);
FUNCTION(sframe_backtrace_install_crash_handler);
FUNCTION(sframe_backtrace_uninstall_crash_handler);
FUNCTION(sframe_backtrace_crash_stack);
FUNCTION(sframe_backtrace_release_crash_stack);
FUNCTION(sframe_backtrace_crash_stack_size);
FUNCTION(sfb_cbf_encoder_init);
FUNCTION(sfb_cbf_encoder_put);
FUNCTION(sfb_cbf_encoder_extend);
FUNCTION(sfb_cbf_encoder_end);
FUNCTION(sfb_cbf_decoder_init);
FUNCTION(sfb_cbf_decoder_next);
FUNCTION(sfb_cbf_decoder_truncated);
FUNCTION(sfb_cbf_decoder_consumed);
FUNCTION(sfb_cbf_decoder_word_bits);
FUNCTION(sfb_source_str);
FUNCTION(sfb_status_str);

/* Types that no function names. */
struct sfb_frame surface_frame;
enum sframe_backtrace_flags surface_flags;
enum sfb_cbf_decoder_flags surface_decoder_flags;

/* Constants that programs compile in: the size of an array is in the dump. */
#define CONSTANT(name, value) char surface_##name[value]

CONSTANT(source_room, SFB_SOURCE_ROOM);
CONSTANT(memo_of_no_frame, SFRAME_BACKTRACE_MEMO_SIZE(0));
CONSTANT(memo_of_1000_frames, SFRAME_BACKTRACE_MEMO_SIZE(1000));
CONSTANT(crash_frames_max, SFRAME_BACKTRACE_CRASH_FRAMES_MAX);
CONSTANT(crash_outermost_max, SFRAME_BACKTRACE_CRASH_OUTERMOST_MAX);
CONSTANT(cbf_rep_max, SFB_CBF_REP_MAX);
CONSTANT(cbf_size_min, SFB_CBF_SIZE_MIN);
CONSTANT(cbf_frame_size_max, SFB_CBF_FRAME_SIZE_MAX);
