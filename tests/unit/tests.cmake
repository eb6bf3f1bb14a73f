# One program of all files: linked once, begun once.
set(sources step memory outer modules walker walker_rows rule_cache memo
  cbf_encoder cbf_decoder cbf_vectors cbf_properties
  sframe_section sframe_fde sframe_fre sframe_find sframe_versions leb128 crash_text
  eh_header eh_entry eh_program eh_program_rows eh_expression eh_rule cfi_rows
  sframe_encoder symbol_name arch_${SFRAME_BACKTRACE_ARCH})
list(TRANSFORM sources REPLACE "(.+)" "unit/\\1.c")
add_executable(test-unit ${sources} support/section_bytes.c support/eh_frame_bytes.c
  ${PROJECT_SOURCE_DIR}/tools/sframe_encoder.c ${PROJECT_SOURCE_DIR}/tools/symbol_name.c)
sfb_test_options(test-unit)
target_include_directories(test-unit PRIVATE ${PROJECT_SOURCE_DIR}/tools)
# Criterion's macros take gcc ten times as long to optimize as what they test, which is optimized anyway.
target_compile_options(test-unit PRIVATE -O0)
target_link_libraries(test-unit PRIVATE sframe-backtrace-static PkgConfig::CRITERION PkgConfig::JANSSON
  stdc++) # which reads the names of C++ functions

# In an emulator each case takes a quarter of a second to start: there, those that are of the machine.
# The others read and write bytes, natively with gcc and clang; the fuzz corpora and golden.*_rows take
# the same code through the emulator.
set(filter "")
if(CMAKE_CROSSCOMPILING_EMULATOR)
  set(filter --filter "@(arch_*|step|memory|modules|outer|walker|walker_rows|rule_cache|memo|crash_text|leb128)/*")
endif()
sfb_criterion_test(unit test-unit LIMIT 200 COST 40 ARGUMENTS ${filter})
