sfb_test(golden sframe_rows)

# Rows of .eh_frame against libdw: those of the fixtures, of the test itself, of the libraries that this
# compiler links with, and of the arm64 libraries that `./dev setup` fetches. Whole folders: `./dev rows`.
add_executable(test-golden-eh_frame_rows golden/eh_frame_rows.c support/libdw_rows.c support/rule_rows.c)
target_include_directories(test-golden-eh_frame_rows PRIVATE ${CMAKE_CURRENT_SOURCE_DIR})
target_link_libraries(test-golden-eh_frame_rows PRIVATE sframe-backtrace-static sfb-flags
  PkgConfig::LIBELF PkgConfig::LIBDW)
sfb_add_test(golden.eh_frame_rows
  COMMAND test-golden-eh_frame_rows $<TARGET_FILE:test-golden-eh_frame_rows> ${PROJECT_SOURCE_DIR}/fixtures/eh_frame ${PROJECT_SOURCE_DIR}/fixtures/elf ${sfb_rows_files})
set_tests_properties(golden.eh_frame_rows PROPERTIES
  ENVIRONMENT "ASAN_OPTIONS=detect_leaks=0;UBSAN_OPTIONS=print_stacktrace=1")
