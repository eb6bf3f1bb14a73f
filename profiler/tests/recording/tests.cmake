# Recordings: profiler/format by itself.
if(TARGET sfb-recording)
  set(sources round_trip any_stack limits damage heap heap_damage versions kill made same)
  list(TRANSFORM sources REPLACE "(.+)" "recording/\\1.c")
  add_executable(test-recording ${sources})
  sfb_test_options(test-recording)
  target_compile_options(test-recording PRIVATE -O0) # as unit is
  target_link_libraries(test-recording PRIVATE sfb-recording-zstd PkgConfig::CRITERION)
  sfb_criterion_test(recording test-recording)
endif()
