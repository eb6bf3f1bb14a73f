# What sfb dump prints, against objdump.
if(TARGET sfb)
  sfb_tool_test(golden tool_dump COST 50)
  foreach(version ${sfb_newer_versions})
    target_compile_definitions(test-golden-tool_dump PRIVATE
      SFB_OBJDUMP_${version}="${sfb_newer_objdump_${version}}")
  endforeach()
endif()
sfb_test(golden sframe_rows)

# Rows of .eh_frame against libdw: those of the fixtures, of the test itself, of the libraries that this
# compiler links with, and of the arm64 libraries that `./dev setup` fetches. Whole folders: `./dev rows`.
add_executable(test-golden-eh_frame_rows golden/eh_frame_rows.c support/libdw_rows.c support/rule_rows.c)
target_include_directories(test-golden-eh_frame_rows PRIVATE ${CMAKE_CURRENT_SOURCE_DIR})
target_link_libraries(test-golden-eh_frame_rows PRIVATE sframe-backtrace-static sfb-flags
  PkgConfig::LIBELF PkgConfig::LIBDW)
set(sfb_rows_files ${PROJECT_SOURCE_DIR}/fixtures/eh_frame ${PROJECT_SOURCE_DIR}/fixtures/elf)
foreach(name libc.so.6 libm.so.6 libstdc++.so.6 ld-linux-x86-64.so.2 ld-linux-aarch64.so.1)
  execute_process(COMMAND ${CMAKE_C_COMPILER} -print-file-name=${name}
    OUTPUT_VARIABLE file OUTPUT_STRIP_TRAILING_WHITESPACE)
  if(IS_ABSOLUTE "${file}" AND EXISTS "${file}")
    list(APPEND sfb_rows_files ${file})
  endif()
endforeach()
set(cache "$ENV{XDG_CACHE_HOME}")
if(NOT cache)
  set(cache "$ENV{HOME}/.cache")
endif()
set(file ${cache}/sframe-backtrace/aarch64/lib/aarch64-linux-gnu/libc.so.6)
if(EXISTS ${file})
  list(APPEND sfb_rows_files ${file})
endif()
sfb_add_test(golden.eh_frame_rows
  COMMAND test-golden-eh_frame_rows $<TARGET_FILE:test-golden-eh_frame_rows> ${sfb_rows_files})
set_tests_properties(golden.eh_frame_rows PROPERTIES
  ENVIRONMENT "ASAN_OPTIONS=detect_leaks=0;UBSAN_OPTIONS=print_stacktrace=1")

# All entries of .eh_frame against libdw: the same files, object files, and a program without a table, which
# is the test itself.
add_executable(test-golden-eh_frame_walk golden/eh_frame_walk.c support/libdw_rows.c support/rule_rows.c)
target_include_directories(test-golden-eh_frame_walk PRIVATE ${CMAKE_CURRENT_SOURCE_DIR})
target_link_libraries(test-golden-eh_frame_walk PRIVATE sfb-object sfb-flags)
target_link_options(test-golden-eh_frame_walk PRIVATE -Wl,--no-eh-frame-hdr)
file(GLOB_RECURSE sfb_walk_files CONFIGURE_DEPENDS ${PROJECT_SOURCE_DIR}/fixtures/eh_frame/*
  ${PROJECT_SOURCE_DIR}/fixtures/elf/*)
foreach(file ${sfb_rows_files})
  if(NOT IS_DIRECTORY ${file})
    list(APPEND sfb_walk_files ${file})
  endif()
endforeach()
sfb_add_test(golden.eh_frame_walk
  COMMAND sh -c "exec ${CMAKE_CROSSCOMPILING_EMULATOR} \"$@\" '$<JOIN:$<TARGET_OBJECTS:sfb-object>,' '>'" sh
    $<TARGET_FILE:test-golden-eh_frame_walk> $<TARGET_FILE:test-golden-eh_frame_walk> ${sfb_walk_files})
set_tests_properties(golden.eh_frame_walk PROPERTIES
  ENVIRONMENT "ASAN_OPTIONS=detect_leaks=0;UBSAN_OPTIONS=print_stacktrace=1")
