# One program of all files: linked once, begun once.
set(sources step memory tail_ring modules loader_state walker walker_init walker_rows proof rule_cache memo stack_hash
  cbf_encoder cbf_decoder cbf_vectors cbf_properties image_map
  sframe_section sframe_fde sframe_fre sframe_find sframe_versions leb128 crash_text
  eh_header eh_entry eh_program eh_program_rows eh_expression eh_rule eh_walk cfi_rows
  cpython arch_${SFRAME_BACKTRACE_ARCH} go_${SFRAME_BACKTRACE_ARCH})
if(SFRAME_BACKTRACE_ARCH STREQUAL "x86_64")
  list(APPEND sources follow_x86_64 eh_return_x86_64)
endif()
list(TRANSFORM sources REPLACE "(.+)" "unit/\\1.c")
add_executable(test-unit ${sources} support/section_bytes.c support/eh_frame_bytes.c)
sfb_test_options(test-unit)
# Criterion's macros take gcc ten times as long to optimize as what they test, which is optimized anyway.
target_compile_options(test-unit PRIVATE -O0)
target_link_libraries(test-unit PRIVATE sframe-backtrace-static PkgConfig::CRITERION PkgConfig::JANSSON)

# In an emulator each case takes a quarter of a second to start: there, those that are of the machine.
# The others read and write bytes, natively with gcc and clang; the fuzz corpora and golden.*_rows take
# the same code through the emulator.
set(filter "")
if(CMAKE_CROSSCOMPILING_EMULATOR)
  set(filter --filter "@(arch_*|step|memory|modules|loader_state|tail_ring|walker|walker_init|walker_rows|proof|rule_cache|memo|crash_text|leb128)/*")
endif()
sfb_criterion_test(unit test-unit COST 40 ARGUMENTS ${filter})

# The suites that need no process walk made-up stacks of the other machine, beside this one's walk.
sfb_other_machine(other-machine support/other_machine.c
  unit/arch_${sfb_other_arch}.c unit/go_${sfb_other_arch}.c unit/step.c unit/rule_cache.c unit/walker.c)
sfb_test_options(other-machine)
target_compile_options(other-machine PRIVATE -O0)
target_link_libraries(other-machine PRIVATE PkgConfig::CRITERION)
add_executable(test-unit-other_machine unit/other_machine.c ${other-machine_object} support/section_bytes.c)
sfb_test_options(test-unit-other_machine)
target_link_libraries(test-unit-other_machine PRIVATE sframe-backtrace-static PkgConfig::CRITERION)
sfb_criterion_test(unit.other_machine test-unit-other_machine)
