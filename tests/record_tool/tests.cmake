# What `sfb record` does with the memory that it shares.
if(TARGET sfb-recorder AND TARGET sfb-recording)
  sfb_test(record_tool drain SOURCES support/folder.c support/run.c record_tool/contents.c
    LIBS sfb-recorder sfb-recording-zstd)
  sfb_test(record_tool session LIBS sfb-recorder)
endif()

# The command, as a user meets it.
if(NOT TARGET sfb-agent-cpu OR NOT TARGET sfb-recorder OR NOT TARGET sfb)
  sfb_skip(record_tool cli "no agent can be preloaded in this build")
  return()
endif()
if(CMAKE_CROSSCOMPILING_EMULATOR)
  # It keeps LD_PRELOAD for itself, and has neither perf nor /proc of its own.
  sfb_skip(record_tool cli "the emulator cannot preload an agent into what it runs")
  return()
endif()

find_package(Threads REQUIRED)
foreach(name program denied)
  add_executable(test-record_tool-${name} record_tool/${name}.c)
  sfb_test_options(test-record_tool-${name})
  set_target_properties(test-record_tool-${name} PROPERTIES OUTPUT_NAME record-tool-${name})
endforeach()
target_link_libraries(test-record_tool-program PRIVATE Threads::Threads)
add_executable(test-record_tool-static record_tool/static_program.c)
target_link_libraries(test-record_tool-static PRIVATE sfb-flags)
target_link_options(test-record_tool-static PRIVATE -static)

foreach(name cli life rights limits identity)
  sfb_tool_test(record_tool ${name} support/command.c record_tool/contents.c record_tool/recorded.c
    LIBS sfb-recorder sfb-recording-zstd)
  target_compile_definitions(test-record_tool-${name} PRIVATE
    SFB_RECORD_PROGRAM="$<TARGET_FILE:test-record_tool-program>"
    SFB_RECORD_STATIC="$<TARGET_FILE:test-record_tool-static>"
    SFB_RECORD_DENIED="$<TARGET_FILE:test-record_tool-denied>")
  add_dependencies(test-record_tool-${name} sfb-agent-cpu test-record_tool-program
    test-record_tool-static test-record_tool-denied)
endforeach()

if(NOT TARGET sfb-agent-heap)
  sfb_skip(record_tool heap "no agent of the heap in this build")
  return()
endif()
add_executable(test-record_tool-heap_program record_tool/heap_program.c)
sfb_test_options(test-record_tool-heap_program)
target_compile_options(test-record_tool-heap_program PRIVATE -fno-builtin)
target_link_libraries(test-record_tool-heap_program PRIVATE Threads::Threads)
sfb_tool_test(record_tool heap support/command.c LIBS sfb-recorder sfb-recording-zstd)
target_compile_definitions(test-record_tool-heap PRIVATE
  SFB_RECORD_HEAP="$<TARGET_FILE:test-record_tool-heap_program>")
add_dependencies(test-record_tool-heap sfb-agent-heap test-record_tool-heap_program)
