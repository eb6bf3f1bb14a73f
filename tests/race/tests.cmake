# What threads share, one plain program each: preset tsan sees each race, the others check what comes of it.
find_package(Threads REQUIRED)

# sfb_race_test(<name> [SOURCES extra.c ...] [LIBS target ...])
function(sfb_race_test name)
  cmake_parse_arguments(arg "" "" "SOURCES;LIBS" ${ARGN})
  set(target test-race-${name})
  add_executable(${target} race/${name}.c ${arg_SOURCES})
  sfb_test_options(${target})
  target_include_directories(${target} PRIVATE ${PROJECT_SOURCE_DIR}/include)
  target_link_libraries(${target} PRIVATE ${arg_LIBS} sframe-backtrace-static Threads::Threads ${CMAKE_DL_LIBS})
  sfb_add_test(race.${name} LABELS threads COMMAND ${target})
  set_tests_properties(race.${name} PROPERTIES ENVIRONMENT
    "TSAN_OPTIONS=suppressions=${CMAKE_CURRENT_SOURCE_DIR}/race/tsan.supp")
endfunction()

sfb_race_test(live_table SOURCES live_heap/blocks.c LIBS sfb-live-table)

# Libraries that come and go meanwhile: of one size, with other code.
foreach(name gone gone-too)
  add_library(test-race-${name} MODULE race/lib_gone.c)
  sfb_test_options(test-race-${name})
  target_link_options(test-race-${name} PRIVATE -Wl,--build-id)
endforeach()
target_compile_definitions(test-race-gone-too PRIVATE TOO)

# Libraries that come.
set(last 7)
foreach(i RANGE ${last})
  add_library(test-race-come-${i} MODULE race/lib_gone.c)
  sfb_test_options(test-race-come-${i})
endforeach()

# Agent and recorder as threads of one program.
if(TARGET sfb-heap AND TARGET sfb-recording)
  foreach(kind heap cpu)
    sfb_race_test(${kind}_ring SOURCES race/session.c LIBS sfb-agent-${kind}-parts sfb-heap sfb-recording)
    math(EXPR count "${last} + 1")
    target_compile_definitions(test-race-${kind}_ring PRIVATE
      SFB_RACE_LIBRARIES="${CMAKE_CURRENT_BINARY_DIR}/libtest-race-come-%d.so" SFB_RACE_LIBRARY_COUNT=${count})
    foreach(i RANGE ${last})
      add_dependencies(test-race-${kind}_ring test-race-come-${i})
    endforeach()
  endforeach()
endif()

foreach(name memo modules)
  sfb_race_test(${name})
  target_compile_definitions(test-race-${name} PRIVATE SFB_RACE_LIBRARY="$<TARGET_FILE:test-race-gone>"
    SFB_RACE_OTHER_LIBRARY="$<TARGET_FILE:test-race-gone-too>")
  add_dependencies(test-race-${name} test-race-gone test-race-gone-too)
endforeach()
sfb_race_test(alternate)
sfb_race_test(crash)
if(TARGET sfb-recording)
  sfb_race_test(record SOURCES ${PROJECT_SOURCE_DIR}/src/record/linked.c LIBS sfb-agent-cpu-parts sfb-drain sfb-recording-zstd)
endif()
