# Fuzz targets. In every build but one a target is a program that runs the files given to it, and its
# corpus is a test; with SFRAME_BACKTRACE_FUZZ (the preset `fuzz`, which needs clang) libFuzzer drives it.
option(SFRAME_BACKTRACE_FUZZ "build the fuzz targets for libFuzzer" OFF)

# sfb_fuzz(<name> <corpus>) builds fuzz_<name>.c as fuzz-<name> and runs corpus/<corpus>.
function(sfb_fuzz name corpus)
  set(target fuzz-${name})
  set(folder ${CMAKE_CURRENT_SOURCE_DIR}/fuzz)
  add_executable(${target} ${folder}/fuzz_${name}.c)
  target_include_directories(${target} PRIVATE ${PROJECT_SOURCE_DIR}/src ${CMAKE_CURRENT_SOURCE_DIR})
  target_link_libraries(${target} PRIVATE sframe-backtrace-static sfb-flags)
  if(SFRAME_BACKTRACE_FUZZ)
    target_link_options(${target} PRIVATE -fsanitize=fuzzer)
    # Without a limit on runs libFuzzer would never stop; 0 runs the corpus only.
    sfb_add_test(fuzz.${name} COMMAND ${target} -runs=0 ${folder}/corpus/${corpus})
  else()
    target_sources(${target} PRIVATE ${folder}/driver.c)
    sfb_add_test(fuzz.${name} COMMAND ${target} ${folder}/corpus/${corpus})
  endif()
endfunction()

sfb_fuzz(cbf_decoder cbf)
sfb_fuzz(eh_frame eh_frame)
sfb_fuzz(sframe sframe)
sfb_fuzz(walk walk)
sfb_fuzz(crash_report crash_report)
target_sources(fuzz-crash_report PRIVATE
  ${PROJECT_SOURCE_DIR}/tools/crash_report.c ${PROJECT_SOURCE_DIR}/tools/hex.c
  ${PROJECT_SOURCE_DIR}/tools/foreign.c)
target_include_directories(fuzz-crash_report PRIVATE ${PROJECT_SOURCE_DIR}/tools)
if(TARGET sfb-check)
  sfb_fuzz(check check)
  target_sources(fuzz-check PRIVATE support/check_file.c support/check_tables.c)
  target_include_directories(fuzz-check PRIVATE ${PROJECT_SOURCE_DIR}/tools)
  target_link_libraries(fuzz-check PRIVATE sfb-check)
endif()
