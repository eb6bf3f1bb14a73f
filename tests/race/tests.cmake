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
    "TSAN_OPTIONS=suppressions=${sfb_tests}/race/tsan.supp")
endfunction()

# Libraries that come and go meanwhile: of one size, with other code.
foreach(name gone gone-too)
  add_library(test-race-${name} MODULE race/lib_gone.c)
  sfb_test_options(test-race-${name})
  target_link_options(test-race-${name} PRIVATE -Wl,--build-id)
endforeach()
target_compile_definitions(test-race-gone-too PRIVATE TOO)

foreach(name memo modules)
  sfb_race_test(${name})
  target_compile_definitions(test-race-${name} PRIVATE SFB_RACE_LIBRARY="$<TARGET_FILE:test-race-gone>"
    SFB_RACE_OTHER_LIBRARY="$<TARGET_FILE:test-race-gone-too>")
  add_dependencies(test-race-${name} test-race-gone test-race-gone-too)
endforeach()
sfb_race_test(alternate)
sfb_race_test(crash)
