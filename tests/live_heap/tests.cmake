# The live table: alone, with blocks that a test allocates as the hooks do.
foreach(name table)
  sfb_test(live_heap ${name} SOURCES live_heap/blocks.c LIBS sfb-live-table m LIMIT 60)
endforeach()

# A program with such a table, and the command that looks at it.
if(TARGET sfb AND TARGET sfb-recording)
  add_executable(test-live_heap-program live_heap/program.c live_heap/blocks.c)
  sfb_test_options(test-live_heap-program)
  target_link_libraries(test-live_heap-program PRIVATE sfb-live-table sframe-backtrace-static PkgConfig::CRITERION)
  set_target_properties(test-live_heap-program PROPERTIES OUTPUT_NAME live_heap-program)
endif()
