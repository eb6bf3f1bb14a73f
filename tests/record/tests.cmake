# The agent of `sfb record`, in programs that do what programs do.
if(NOT TARGET sfb-agent-cpu)
  sfb_skip(record agent "a sanitized agent cannot be preloaded into a plain program")
  return()
endif()

add_executable(test-record-program record/program.c record/program_ends.c record/program_threads.c
  record/program_children.c record/program_signals.c record/program_libraries.c)
sfb_test_options(test-record-program)
target_include_directories(test-record-program PRIVATE ${PROJECT_SOURCE_DIR}/include)
set_target_properties(test-record-program PROPERTIES OUTPUT_NAME record-program)

foreach(name threads processes signals)
  sfb_test(record ${name} SOURCES record/recorder.c record/expect.c LIMIT 60)
  target_compile_definitions(test-record-${name} PRIVATE
    SFB_AGENT="$<TARGET_FILE:sfb-agent-cpu>" SFB_RECORD_PROGRAM="$<TARGET_FILE:test-record-program>")
  add_dependencies(test-record-${name} sfb-agent-cpu test-record-program)
endforeach()
