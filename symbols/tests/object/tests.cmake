# One view of an ELF file, its names, and what util has.
set(sources object tables hex maps spans demangle short_name bare_name nearest counted base_name base64 leb128 proc_stat write_all fnv grow read_all)
if(LIBDEFLATE_FOUND AND TARGET PkgConfig::ZLIB)
  list(APPEND sources unpack) # zlib packs
endif()
list(TRANSFORM sources REPLACE "(.+)" "object/\\1.c")
add_executable(test-object ${sources} ${sfb_tests}/support/section_bytes.c ${sfb_tests}/support/eh_frame_bytes.c)
sfb_test_options(test-object)
target_compile_options(test-object PRIVATE -O0) # as unit is
target_link_libraries(test-object PRIVATE sfb-symbols sframe-backtrace-static PkgConfig::CRITERION
  stdc++) # whose demangler is the oracle
if(TARGET PkgConfig::ZLIB)
  target_link_libraries(test-object PRIVATE PkgConfig::ZLIB)
endif()
sfb_criterion_test(object test-object)
# Allocations that cannot be had are asked for.
set_tests_properties(object PROPERTIES
  ENVIRONMENT "ASAN_OPTIONS=handle_segv=0:detect_leaks=0:allocator_may_return_null=1;UBSAN_OPTIONS=print_stacktrace=1")
