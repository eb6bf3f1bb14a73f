# The command, as a user meets it.
if(NOT TARGET sfb-agent-cpu OR NOT TARGET sfb-collector OR NOT TARGET sfb)
  sfb_skip(record_tool cli "no agent can be preloaded in this build")
  return()
endif()
if(CMAKE_CROSSCOMPILING_EMULATOR)
  # It keeps LD_PRELOAD for itself, and has neither perf nor /proc of its own.
  sfb_skip(record_tool cli "the emulator cannot preload an agent into what it runs")
  return()
endif()

find_package(Threads REQUIRED)
foreach(name program denied calls_program limits_program count_calls)
  add_executable(test-record_tool-${name} record_tool/${name}.c)
  sfb_test_options(test-record_tool-${name})
  target_include_directories(test-record_tool-${name} PRIVATE ${PROJECT_SOURCE_DIR}/include)
  set_target_properties(test-record_tool-${name} PROPERTIES OUTPUT_NAME record-tool-${name})
endforeach()
target_link_libraries(test-record_tool-program PRIVATE Threads::Threads)
target_link_libraries(test-record_tool-limits_program PRIVATE Threads::Threads)
target_link_libraries(test-record_tool-calls_program PRIVATE Threads::Threads ${CMAKE_DL_LIBS})
add_executable(test-record_tool-gprof record_tool/program.c)
sfb_test_options(test-record_tool-gprof)
target_include_directories(test-record_tool-gprof PRIVATE ${PROJECT_SOURCE_DIR}/include)
target_compile_options(test-record_tool-gprof PRIVATE -pg)
target_link_options(test-record_tool-gprof PRIVATE -pg)
target_link_libraries(test-record_tool-gprof PRIVATE Threads::Threads)
add_executable(test-record_tool-static record_tool/static_program.c)
target_link_libraries(test-record_tool-static PRIVATE sfb-flags)
target_link_options(test-record_tool-static PRIVATE -static)

# A program of another C library, where its compiler is.
# Processes that run already: dynamic, and static, where there is no agent for them.
foreach(kind "" -static)
  set(target test-record_tool-attach_program${kind})
  add_executable(${target} record_tool/attach_program.c)
  target_compile_options(${target} PRIVATE -O2)
  target_link_options(${target} PRIVATE ${kind})
  target_link_libraries(${target} PRIVATE sfb-flags Threads::Threads)
  if(SFRAME_BACKTRACE_SANITIZE)
    sfb_skip(record_tool attach${kind} "it takes a build without sanitizers")
  else()
    sfb_add_test(record_tool.attach${kind} COMMAND ${CMAKE_CURRENT_SOURCE_DIR}/record_tool/attach
      $<TARGET_FILE:sfb> $<TARGET_FILE:${target}>)
    sfb_add_test(record_tool.attach${kind}_looks COMMAND ${CMAKE_CURRENT_SOURCE_DIR}/record_tool/attach
      $<TARGET_FILE:sfb> $<TARGET_FILE:${target}> --engine looks)
  endif()
endforeach()

if(NOT SFRAME_BACKTRACE_SANITIZE)
  sfb_add_test(record_tool.attach_programs COMMAND ${CMAKE_CURRENT_SOURCE_DIR}/record_tool/attach_programs $<TARGET_FILE:sfb>)
endif()

find_program(SFB_MUSL_GCC musl-gcc)
set(sfb_record_musl "")
if(SFB_MUSL_GCC)
  set(sfb_record_musl ${sfb_tests_out}/record-tool-musl)
  add_custom_command(OUTPUT ${sfb_record_musl} DEPENDS record_tool/musl_program.c VERBATIM
    COMMAND ${SFB_MUSL_GCC} -O2 ${CMAKE_CURRENT_SOURCE_DIR}/record_tool/musl_program.c -o ${sfb_record_musl})
  add_custom_target(test-record_tool-musl DEPENDS ${sfb_record_musl})
endif()

foreach(name cli habits life rights limits identity engines proportion unrecorded)
  sfb_tool_test(record_tool ${name} support/command.c record_tool/contents.c record_tool/recorded.c
    LIBS sfb-collector sfb-recording-zstd m)
  target_compile_definitions(test-record_tool-${name} PRIVATE
    SFB_RECORD_PROGRAM="$<TARGET_FILE:test-record_tool-program>"
    SFB_RECORD_STATIC="$<TARGET_FILE:test-record_tool-static>" SFB_RECORD_MUSL="${sfb_record_musl}"
    SFB_RECORD_CALLS="$<TARGET_FILE:test-record_tool-calls_program>"
    SFB_RECORD_GPROF="$<TARGET_FILE:test-record_tool-gprof>"
    SFB_RECORD_LIMITS="$<TARGET_FILE:test-record_tool-limits_program>"
    SFB_RECORD_DENIED="$<TARGET_FILE:test-record_tool-denied>"
    SFB_RECORD_AGENT="$<TARGET_FILE:sfb-agent-cpu>")
  add_dependencies(test-record_tool-${name} sfb-agent-cpu test-record_tool-limits_program test-record_tool-program
    test-record_tool-static test-record_tool-gprof test-record_tool-denied
    test-record_tool-calls_program)
endforeach()
if(SFB_MUSL_GCC)
  add_dependencies(test-record_tool-limits test-record_tool-musl)
endif()

# What it costs.
sfb_tool_test(record_tool cost support/command.c)
target_compile_definitions(test-record_tool-cost PRIVATE
  SFB_RECORD_CALLS="$<TARGET_FILE:test-record_tool-calls_program>"
  SFB_RECORD_PROGRAM="$<TARGET_FILE:test-record_tool-program>"
  SFB_RECORD_COUNT_CALLS="$<TARGET_FILE:test-record_tool-count_calls>"
  SFB_RECORD_AGENT="$<TARGET_FILE:sfb-agent-cpu>")
add_dependencies(test-record_tool-cost sfb-agent-cpu test-record_tool-program test-record_tool-count_calls
  test-record_tool-calls_program)

# Which processes are a loss.
sfb_test(record_tool untracked SOURCES support/folder.c support/run.c
  LIBS sfb-collector sfb-recording-zstd Threads::Threads)
target_compile_definitions(test-record_tool-untracked PRIVATE
  SFB_RECORD_PROGRAM="$<TARGET_FILE:test-record_tool-program>"
  SFB_RECORD_STATIC="$<TARGET_FILE:test-record_tool-static>")
add_dependencies(test-record_tool-untracked test-record_tool-program test-record_tool-static)

# What it shows on a terminal, and whose Ctrl-C is.
add_executable(test-record_tool-terminal_program record_tool/terminal_program.c)
sfb_test_options(test-record_tool-terminal_program)
sfb_tool_test(record_tool terminal record_tool/contents.c record_tool/recorded.c
  LIBS sfb-collector sfb-recording-zstd util)
target_compile_definitions(test-record_tool-terminal PRIVATE
  SFB_RECORD_PROGRAM="$<TARGET_FILE:test-record_tool-program>"
  SFB_RECORD_TERMINAL="$<TARGET_FILE:test-record_tool-terminal_program>")
add_dependencies(test-record_tool-terminal sfb-agent-cpu test-record_tool-program
  test-record_tool-terminal_program)

if(NOT TARGET sfb-agent-heap)
  sfb_skip(record_tool heap "no agent of the heap in this build")
  return()
endif()
add_executable(test-record_tool-heap_program record_tool/heap_program.c)
sfb_test_options(test-record_tool-heap_program)
target_include_directories(test-record_tool-heap_program PRIVATE ${PROJECT_SOURCE_DIR}/include)
target_compile_options(test-record_tool-heap_program PRIVATE -fno-builtin)
target_link_libraries(test-record_tool-heap_program PRIVATE Threads::Threads)
add_executable(test-record_tool-hostile_program record_tool/hostile_program.c)
sfb_test_options(test-record_tool-hostile_program)
target_include_directories(test-record_tool-hostile_program PRIVATE ${PROJECT_SOURCE_DIR}/src ${PROJECT_SOURCE_DIR}/include)
sfb_tool_test(record_tool hostile support/command.c record_tool/contents.c record_tool/recorded.c
  LIBS sfb-collector sfb-recording-zstd)
target_compile_definitions(test-record_tool-hostile PRIVATE
  SFB_RECORD_PROGRAM="$<TARGET_FILE:test-record_tool-program>"
  SFB_RECORD_AGENT="$<TARGET_FILE:sfb-agent-cpu>"
  SFB_RECORD_HOSTILE="$<TARGET_FILE:test-record_tool-hostile_program>")
add_dependencies(test-record_tool-hostile sfb-agent-cpu sfb-agent-heap test-record_tool-program
  test-record_tool-hostile_program)
sfb_tool_test(record_tool heap support/command.c LIBS sfb-collector sfb-recording-zstd)
target_compile_definitions(test-record_tool-heap PRIVATE
  SFB_RECORD_HEAP="$<TARGET_FILE:test-record_tool-heap_program>")
add_dependencies(test-record_tool-heap sfb-agent-heap test-record_tool-heap_program)
