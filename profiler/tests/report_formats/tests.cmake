# What sfb report writes for other tools. What needs a download is in readers/: ./dev readers.
if(SFRAME_BACKTRACE_PROFILER)
  foreach(name pprof json browsers lines otlp)
    sfb_tool_test(report_formats ${name} SOURCES support/pprof_read.c report_formats/recordings.c
      LIBS sfb-recording-zstd PkgConfig::JANSSON PkgConfig::ZLIB)
  endforeach()
  sfb_tool_test(report_formats heap SOURCES support/pprof_read.c report/made.c report/made_heap.c report_formats/heap_run.c
    LIBS sfb-recording-zstd PkgConfig::JANSSON PkgConfig::ZLIB)
  sfb_tool_test(report_formats collect report/made.c LIBS sfb-recording-zstd)
  if(SFRAME_BACKTRACE_SANITIZE)
    sfb_skip(report_formats programs "a sanitized agent cannot be preloaded")
  elseif(CMAKE_CROSSCOMPILING_EMULATOR)
    sfb_skip(report_formats programs "an emulator's CPU time is not the program's")
  else()
    sfb_tool_test(report_formats programs SOURCES support/pprof_read.c
      LIBS sfb-recording-zstd PkgConfig::JANSSON PkgConfig::ZLIB)
    add_dependencies(test-report_formats-programs sfb-agent-cpu)
  endif()
else()
  foreach(name pprof json browsers lines otlp heap collect programs)
    sfb_skip(report_formats ${name} "recordings are not built: zstd is not installed")
  endforeach()
endif()
