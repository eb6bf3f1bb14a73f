# The encoder of .sframe.
if(TARGET sfb-synth)
  add_executable(test-encoder encoder/sframe_encoder.c encoder/sframe_flexible_encoder.c
    ${sfb_tests}/support/section_bytes.c ${sfb_tests}/support/eh_frame_bytes.c)
  sfb_test_options(test-encoder)
  target_compile_options(test-encoder PRIVATE -O0) # as unit is
  target_link_libraries(test-encoder PRIVATE sfb-synth sframe-backtrace-static PkgConfig::CRITERION)
  sfb_criterion_test(encoder test-encoder)
endif()
