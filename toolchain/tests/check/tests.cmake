# sfb check: every code, the command, and damage.
if(TARGET sfb)
  sfb_test(check codes SOURCES ${sfb_tests}/support/check_file.c ${sfb_tests}/support/check_tables.c LIBS sfb-check)

  sfb_tool_test(check command)
  target_sources(test-check-command PRIVATE ${sfb_tests}/support/check_file.c ${sfb_tests}/support/check_tables.c)

  sfb_tool_test(check code)
  target_sources(test-check-code PRIVATE ${sfb_tests}/support/check_file.c ${sfb_tests}/support/check_tables.c)

  sfb_tool_test(check kernel)
  target_sources(test-check-kernel PRIVATE ${sfb_tests}/support/check_file.c ${sfb_tests}/support/check_tables.c)

  sfb_tool_test(check causes)
  target_link_libraries(test-check-causes PRIVATE sfb-check)

  if(NOT CMAKE_CROSSCOMPILING AND SFRAME_BACKTRACE_ARCH STREQUAL "x86_64")
    foreach(library many:20000 few:200)
      string(REPLACE ":" ";" library ${library})
      list(GET library 0 name)
      list(GET library 1 functions)
      add_library(check-${name} MODULE check/many.c)
      target_compile_definitions(check-${name} PRIVATE FUNCTIONS="${functions}")
    endforeach()
    sfb_tool_test(check causes_many)
    target_link_libraries(test-check-causes_many PRIVATE sfb-check)
    target_compile_definitions(test-check-causes_many PRIVATE CHECK_MANY="$<TARGET_FILE:check-many>"
      CHECK_FEW="$<TARGET_FILE:check-few>")
    add_dependencies(test-check-causes_many check-many check-few)
  endif()

  sfb_tool_test(check diff)
  target_sources(test-check-diff PRIVATE ${sfb_tests}/support/check_file.c ${sfb_tests}/support/check_tables.c)

  sfb_tool_test(check gate)
  target_sources(test-check-gate PRIVATE ${sfb_tests}/support/check_file.c ${sfb_tests}/support/check_tables.c)

  sfb_tool_test(check formats)
  target_sources(test-check-formats PRIVATE
    ${sfb_tests}/support/check_file.c ${sfb_tests}/support/check_tables.c ${sfb_tests}/support/json_schema.c)
  target_link_libraries(test-check-formats PRIVATE PkgConfig::JANSSON)

  # Known faults of binutils, with the releases that are here.
  # (A minute with sanitizers, which see nothing in it that check.gate and check.mutate do not show them.)
  if(NOT CMAKE_CROSSCOMPILING AND NOT SFRAME_BACKTRACE_SANITIZE)
    sfb_add_test(check.binutils COMMAND ${CMAKE_CURRENT_SOURCE_DIR}/check/binutils $<TARGET_FILE:sfb>
      --check ${PROJECT_SOURCE_DIR}/docs/evidence/BINUTILS.md)
  endif()

  # What --reader says of glibc beside glibc's own reader, if its source was fetched.
  if(NOT CMAKE_CROSSCOMPILING AND CMAKE_SYSTEM_PROCESSOR STREQUAL x86_64)
    sfb_add_test(check.glibc_verdicts COMMAND ${CMAKE_CURRENT_SOURCE_DIR}/check/glibc_verdicts $<TARGET_FILE:sfb>)
  endif()

  # Systematic faults in copies of the library: `check/seeded BUILD_DIR RANDOM all` makes them, and the table.
  add_executable(test-check-seed check/seed.c check/seeds.c check/subject.c)
  target_include_directories(test-check-seed PRIVATE ${PROJECT_SOURCE_DIR} ${PROJECT_SOURCE_DIR}/src ${sfb_tests}
    ${CMAKE_CURRENT_SOURCE_DIR})
  target_link_libraries(test-check-seed PRIVATE sfb-check sfb-cli sfb-flags)
  if(CAPSTONE_FOUND AND NOT CMAKE_CROSSCOMPILING AND NOT SFRAME_BACKTRACE_SANITIZE)
    sfb_add_test(check.seed COMMAND ${CMAKE_CURRENT_SOURCE_DIR}/check/seeded ${PROJECT_BINARY_DIR} 30 one)
  endif()

  # The short version; `./dev mutate` is the long one.
  add_executable(test-check-mutate check/mutate.c check/subject.c)
  target_include_directories(test-check-mutate PRIVATE ${PROJECT_SOURCE_DIR} ${PROJECT_SOURCE_DIR}/src ${sfb_tests}
    ${CMAKE_CURRENT_SOURCE_DIR})
  target_link_libraries(test-check-mutate PRIVATE sfb-check sfb-cli sfb-flags)
  set(elf ${PROJECT_SOURCE_DIR}/fixtures/elf/v1)
  sfb_add_test(check.mutate COMMAND test-check-mutate 4000 1 ${elf}/amd64/prog_sig
    ${elf}/aarch64/prog_pac_bkey ${elf}/aarch64_be/libsample_pac_bkey.so)
  set_tests_properties(check.mutate PROPERTIES
    ENVIRONMENT "ASAN_OPTIONS=detect_leaks=0;UBSAN_OPTIONS=print_stacktrace=1")

  # The same without .eh_frame, where the code says what rows ought to be.
  add_executable(test-check-flips check/flips.c check/subject.c)
  target_include_directories(test-check-flips PRIVATE ${PROJECT_SOURCE_DIR} ${PROJECT_SOURCE_DIR}/src ${sfb_tests}
    ${CMAKE_CURRENT_SOURCE_DIR})
  target_link_libraries(test-check-flips PRIVATE sfb-check sfb-cli sfb-flags)
  if(CAPSTONE_FOUND)
    set(elf ${PROJECT_SOURCE_DIR}/fixtures/elf)
    sfb_add_test(check.flips COMMAND test-check-flips 1500 1 98 ${elf}/v1/amd64/prog_sig
      ${elf}/v1/aarch64/prog_pac_bkey ${elf}/v1/aarch64_be/libsample_pac_bkey.so
      ${elf}/v2/amd64/free_pie ${elf}/v2/aarch64_be/free_pie_pac
      ${elf}/v3/amd64/free_pie ${elf}/v3/amd64/free.o ${elf}/v3/aarch64/sig.o
      ${elf}/v3/aarch64_be/free_pie_pac)
    set_tests_properties(check.flips PROPERTIES ENVIRONMENT "ASAN_OPTIONS=detect_leaks=0")
  endif()

  # What --reader says of libsframe beside objdump of the releases that are here.
  if(NOT CMAKE_CROSSCOMPILING AND CMAKE_SYSTEM_PROCESSOR STREQUAL x86_64)
    sfb_add_test(check.libsframe_verdicts COMMAND ${CMAKE_CURRENT_SOURCE_DIR}/check/libsframe_verdicts $<TARGET_FILE:sfb>)
  endif()
endif()
