# The live table: alone, with blocks that a test allocates as the hooks do.
foreach(name table)
  sfb_test(live_heap ${name} SOURCES live_heap/blocks.c LIBS sfb-live-table m LIMIT 60)
endforeach()

# A program with such a table, and the command that looks at it.
if(TARGET sfb AND TARGET sfb-recording)
  add_executable(test-live_heap-program live_heap/program.c live_heap/blocks.c)
  sfb_test_options(test-live_heap-program)
  target_link_libraries(test-live_heap-program PRIVATE sfb-live-table sframe-backtrace-static)
  set_target_properties(test-live_heap-program PROPERTIES OUTPUT_NAME live_heap-program)
  sfb_tool_test(live_heap ctl LIMIT 120)
  target_compile_definitions(test-live_heap-ctl PRIVATE SFB_LIVE_PROGRAM="$<TARGET_FILE:test-live_heap-program>")
  target_include_directories(test-live_heap-ctl PRIVATE ${PROJECT_SOURCE_DIR}/src)
  add_dependencies(test-live_heap-ctl test-live_heap-program)
endif()
