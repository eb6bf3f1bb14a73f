# What commands read themselves: crash reports, lines of logs. tests/fuzz/tests.cmake has sfb_fuzz().
sfb_fuzz(crash_report crash_report)
target_sources(fuzz-crash_report PRIVATE ${PROJECT_SOURCE_DIR}/cli/crash_report.c)
target_link_libraries(fuzz-crash_report PRIVATE sfb-symbols)
sfb_fuzz(text text)
target_sources(fuzz-text PRIVATE ${PROJECT_SOURCE_DIR}/cli/log_lines.c
  ${PROJECT_SOURCE_DIR}/contrib/lws/lws_lines.c ${PROJECT_SOURCE_DIR}/contrib/lws/lws_note.c)
target_link_libraries(fuzz-text PRIVATE sfb-symbols)
if(TARGET sfb-apitrace)
  sfb_fuzz(apitrace apitrace)
  target_link_libraries(fuzz-apitrace PRIVATE sfb-apitrace PkgConfig::SNAPPY)
endif()
