# Reports of recordings that the test writes.
foreach(name report views several terminal large)
  if(SFRAME_BACKTRACE_RECORDING AND SFRAME_BACKTRACE_TOOLS)
    sfb_tool_test(report ${name} report/made.c report/made_heap.c LIBS sfb-recording-zstd)
  else()
    sfb_skip(report ${name} "recordings are not built: zstd is not installed")
  endif()
endforeach()
# Heaps: the model itself, without the tool, and its views.
if(SFRAME_BACKTRACE_RECORDING AND SFRAME_BACKTRACE_TOOLS)
  sfb_tool_test(report heap_model report/made.c report/made_heap.c LIBS sfb-report)
  sfb_tool_test(report heap_views report/made.c report/made_heap.c LIBS sfb-recording-zstd)
  sfb_tool_test(report suppressions LIBS sfb-report)
endif()
# Its source is where it was not built.
set_source_files_properties(report/made.c PROPERTIES
  COMPILE_OPTIONS "-ffile-prefix-map=${PROJECT_BINARY_DIR}=/nowhere/build;-ffile-prefix-map=${PROJECT_SOURCE_DIR}=/nowhere")
