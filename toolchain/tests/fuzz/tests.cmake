# Sections, and baselines of sfb check. tests/fuzz/tests.cmake has sfb_fuzz().
if(TARGET sfb-check)
  sfb_fuzz(check check)
  target_sources(fuzz-check PRIVATE ${sfb_tests}/support/check_file.c ${sfb_tests}/support/check_tables.c)
  target_link_libraries(fuzz-check PRIVATE sfb-check)
  sfb_fuzz(baseline baseline)
  target_link_libraries(fuzz-baseline PRIVATE sfb-check)
endif()
