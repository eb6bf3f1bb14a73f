# The heap, as the recorder makes it of rings that tests write.
if(TARGET sfb-heap AND TARGET sfb-recording)
  set(sources made_session truth cases hostile)
  list(TRANSFORM sources REPLACE "(.+)" "heap_drain/\\1.c")
  add_executable(test-heap_drain ${sources})
  sfb_test_options(test-heap_drain)
  target_link_libraries(test-heap_drain PRIVATE sfb-heap sfb-recording-zstd PkgConfig::CRITERION)
  sfb_criterion_test(heap_drain test-heap_drain)
endif()
