# Reports of recordings that the test writes.
if(SFRAME_BACKTRACE_RECORDING AND SFRAME_BACKTRACE_TOOLS)
  sfb_tool_test(report report LIBS sfb-recording-zstd)
else()
  sfb_skip(report report "recordings are not built: zstd is not installed")
endif()
