# What sfb report writes for other tools. What needs a download is in readers/: ./dev readers.
if(SFRAME_BACKTRACE_RECORDING AND SFRAME_BACKTRACE_TOOLS)
  sfb_tool_test(report_formats formats SOURCES support/pprof_read.c
    LIBS sfb-recording-zstd PkgConfig::JANSSON PkgConfig::ZLIB)
  sfb_tool_test(report_formats collect report/made.c LIBS sfb-recording-zstd)
else()
  foreach(name formats collect)
    sfb_skip(report_formats ${name} "recordings are not built: zstd is not installed")
  endforeach()
endif()
