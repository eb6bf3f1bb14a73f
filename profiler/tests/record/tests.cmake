# The agent of `sfb record`, in programs that do what programs do.
if(NOT TARGET sfb-agent-cpu)
  sfb_skip(record agent "a sanitized agent cannot be preloaded into a plain program")
  return()
endif()

# Two libraries of one size, in a folder that only the program's RUNPATH leads to.
set(sfb_record_libs ${sfb_tests_out}/record-libs)
foreach(name a b)
  add_library(test-record-${name} MODULE record/lib_swap.c)
  sfb_test_options(test-record-${name})
  target_compile_definitions(test-record-${name} PRIVATE LIBRARY="${name}")
  target_link_options(test-record-${name} PRIVATE -Wl,--build-id)
  set_target_properties(test-record-${name} PROPERTIES OUTPUT_NAME record-${name} LIBRARY_OUTPUT_DIRECTORY ${sfb_record_libs})
endforeach()

add_executable(test-record-program record/program.c record/program_ends.c record/program_threads.c
  record/program_children.c record/program_signals.c record/program_calls.c record/program_filter.c record/program_libraries.c)
sfb_test_options(test-record-program)
target_include_directories(test-record-program PRIVATE ${PROJECT_SOURCE_DIR}/include)
target_compile_definitions(test-record-program PRIVATE
  SFB_RECORD_LIBRARY_A="$<TARGET_FILE:test-record-a>" SFB_RECORD_LIBRARY_B="$<TARGET_FILE:test-record-b>")
target_link_options(test-record-program PRIVATE -Wl,--enable-new-dtags)
set_target_properties(test-record-program PROPERTIES OUTPUT_NAME record-program
  BUILD_RPATH "\$ORIGIN/record-libs")
add_dependencies(test-record-program test-record-a test-record-b)

add_library(test-record-hasty MODULE record/lib_hasty.c)
sfb_test_options(test-record-hasty)
set_target_properties(test-record-hasty PROPERTIES OUTPUT_NAME record-hasty)

add_library(test-record-early MODULE record/lib_early.c)
sfb_test_options(test-record-early)
set_target_properties(test-record-early PROPERTIES OUTPUT_NAME record-early)

add_executable(test-record-raised record/raised_program.c)
sfb_test_options(test-record-raised)
target_include_directories(test-record-raised PRIVATE ${PROJECT_SOURCE_DIR}/include)
target_link_libraries(test-record-raised PRIVATE sfb-agent-cpu)
set_target_properties(test-record-raised PROPERTIES OUTPUT_NAME record-raised)

# In an emulator exec starts programs of the machine that it runs on, and its own threads are there, too.
set(sfb_record_tests threads libraries processes signals engines)
if(CMAKE_CROSSCOMPILING_EMULATOR)
  set(sfb_record_emulated SFB_EMULATED)
  set(sfb_record_tests threads libraries)
  foreach(name processes signals)
    sfb_skip(record ${name} "its programs execute others, which the emulator hands to the kernel as they are")
  endforeach()
  sfb_skip(record engines "the sampler would find threads of the emulator")
endif()
foreach(name ${sfb_record_tests})
  sfb_test(record ${name} SOURCES record/recorder.c record/expect.c)
  target_compile_definitions(test-record-${name} PRIVATE
    SFB_AGENT="$<TARGET_FILE:sfb-agent-cpu>" SFB_RECORD_PROGRAM="$<TARGET_FILE:test-record-program>"
    SFB_RECORD_HASTY="$<TARGET_FILE:test-record-hasty>" SFB_RECORD_EARLY="$<TARGET_FILE:test-record-early>" SFB_RECORD_RAISED="$<TARGET_FILE:test-record-raised>"
    ${sfb_record_emulated})
  add_dependencies(test-record-${name} sfb-agent-cpu test-record-program test-record-hasty test-record-early test-record-raised)
endforeach()

if(TARGET sfb-recording) # else it has two names less
  sfb_test(record policy SOURCES support/command.c)
  target_compile_definitions(test-record-policy PRIVATE SFB_NM="${CMAKE_NM}" SFB_READELF="${CMAKE_READELF}"
    SFB_AGENT="$<TARGET_FILE:sfb-agent-cpu>"
    SFB_AGENT_OBJECTS="${PROJECT_BINARY_DIR}/profiler/agent/CMakeFiles/sfb-agent-cpu.dir")
  add_dependencies(test-record-policy sfb-agent-cpu)
endif()

if(CMAKE_CROSSCOMPILING_EMULATOR)
  sfb_skip(record linked "the recording would have threads of the emulator")
elseif(TARGET sfb-recording)
  add_executable(test-record-linked-program record/linked_program.c)
  sfb_test_options(test-record-linked-program)
  target_include_directories(test-record-linked-program PRIVATE ${PROJECT_SOURCE_DIR}/include)
  target_link_libraries(test-record-linked-program PRIVATE sfb-agent-cpu)
  set_target_properties(test-record-linked-program PROPERTIES OUTPUT_NAME record-linked)
  sfb_test(record linked SOURCES support/run.c LIBS sfb-recording-zstd)
  target_compile_definitions(test-record-linked PRIVATE SFB_RECORD_LINKED="$<TARGET_FILE:test-record-linked-program>"
    SFB_EMULATE="${sfb_emulate}")
  add_dependencies(test-record-linked test-record-linked-program)
else()
  sfb_skip(record linked "libsfb-recording is not built: zstd is missing")
endif()
