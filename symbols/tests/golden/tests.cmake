# All entries of .eh_frame against libdw: the same files, object files, and a program without a table, which
# is the test itself.
add_executable(test-golden-eh_frame_walk golden/eh_frame_walk.c ${sfb_tests}/support/libdw_rows.c
  ${sfb_tests}/support/rule_rows.c)
target_include_directories(test-golden-eh_frame_walk PRIVATE ${CMAKE_CURRENT_SOURCE_DIR} ${sfb_tests})
target_link_libraries(test-golden-eh_frame_walk PRIVATE sfb-symbols sfb-flags)
target_link_options(test-golden-eh_frame_walk PRIVATE -Wl,--no-eh-frame-hdr)
file(GLOB_RECURSE sfb_walk_files CONFIGURE_DEPENDS ${PROJECT_SOURCE_DIR}/fixtures/eh_frame/*
  ${PROJECT_SOURCE_DIR}/fixtures/elf/*)
list(APPEND sfb_walk_files ${sfb_rows_files})
sfb_add_test(golden.eh_frame_walk
  COMMAND sh -c "exec ${CMAKE_CROSSCOMPILING_EMULATOR} \"$@\" '$<JOIN:$<TARGET_OBJECTS:sfb-symbols>,' '>'" sh
    $<TARGET_FILE:test-golden-eh_frame_walk> $<TARGET_FILE:test-golden-eh_frame_walk> ${sfb_walk_files})
set_tests_properties(golden.eh_frame_walk PROPERTIES
  ENVIRONMENT "ASAN_OPTIONS=detect_leaks=0;UBSAN_OPTIONS=print_stacktrace=1")
