# What tools are made of, apart from the library: src/object, and the encoder of .sframe.
set(sources object tables hex maps spans demangle short_name bare_name nearest counted sframe_encoder
  sframe_flexible_encoder)
list(TRANSFORM sources REPLACE "(.+)" "object/\\1.c")
add_executable(test-object ${sources} support/section_bytes.c support/eh_frame_bytes.c
  ${PROJECT_SOURCE_DIR}/tools/sframe_encoder.c ${PROJECT_SOURCE_DIR}/tools/sframe_expressible.c
  ${PROJECT_SOURCE_DIR}/tools/sframe_bytes.c ${PROJECT_SOURCE_DIR}/tools/sframe_row.c ${PROJECT_SOURCE_DIR}/tools/sframe_runs.c)
sfb_test_options(test-object)
target_include_directories(test-object PRIVATE ${PROJECT_SOURCE_DIR}/tools)
target_compile_options(test-object PRIVATE -O0) # as unit is
target_link_libraries(test-object PRIVATE sfb-object sframe-backtrace-static PkgConfig::CRITERION
  stdc++) # whose demangler is the oracle
sfb_criterion_test(object test-object)
