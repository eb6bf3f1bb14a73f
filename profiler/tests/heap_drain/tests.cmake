# The heap, as the recorder makes it of rings that tests write.
if(TARGET sfb-heap AND TARGET sfb-recording)
  set(sources made_session truth cases hostile pieces)
  list(TRANSFORM sources REPLACE "(.+)" "heap_drain/\\1.c")
  add_executable(test-heap_drain ${sources})
  sfb_test_options(test-heap_drain)
  target_link_libraries(test-heap_drain PRIVATE sfb-heap sfb-recording-zstd PkgConfig::CRITERION m)
  sfb_criterion_test(heap_drain test-heap_drain)

  # Its figures depend on the machine: it is no test.
  add_executable(test-heap_drain-speed heap_drain/speed.c)
  sfb_test_options(test-heap_drain-speed)
  set_target_properties(test-heap_drain-speed PROPERTIES OUTPUT_NAME heap-drain-speed)
  target_link_libraries(test-heap_drain-speed PRIVATE sfb-heap sfb-recording-zstd)
endif()
