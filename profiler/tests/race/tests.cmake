# What agents' and collector's threads share: tests/race/tests.cmake has sfb_race_test().
find_package(Threads REQUIRED)

sfb_race_test(live_table SOURCES live_heap/blocks.c LIBS sfb-live-table)
sfb_race_test(live_stacks SOURCES live_heap/blocks.c live_heap/named.c LIBS sfb-live-table)

# Libraries that come.
set(last 7)
foreach(i RANGE ${last})
  add_library(test-race-come-${i} MODULE ${sfb_tests}/race/lib_gone.c)
  sfb_test_options(test-race-come-${i})
endforeach()

# Agent and recorder as threads of one program.
if(TARGET sfb-heap AND TARGET sfb-recording)
  foreach(kind heap cpu)
    sfb_race_test(${kind}_ring SOURCES race/session.c LIBS sfb-agent-${kind}-parts sfb-heap sfb-recording)
    math(EXPR count "${last} + 1")
    target_compile_definitions(test-race-${kind}_ring PRIVATE
      SFB_RACE_LIBRARIES="${sfb_tests_out}/libtest-race-come-%d.so" SFB_RACE_LIBRARY_COUNT=${count})
    foreach(i RANGE ${last})
      add_dependencies(test-race-${kind}_ring test-race-come-${i})
    endforeach()
  endforeach()
endif()

if(TARGET sfb-recording)
  sfb_race_test(record SOURCES ${PROJECT_SOURCE_DIR}/profiler/linked/linked.c LIBS sfb-agent-cpu-parts sfb-drain sfb-recording-zstd)
endif()
