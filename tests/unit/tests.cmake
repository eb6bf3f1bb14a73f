# One program of all files: linked once, begun once.
set(sources step memory tail_ring modules loader_state walker walker_init walker_rows rule_cache memo stack_hash
  cbf_encoder cbf_decoder cbf_vectors cbf_properties image_map
  sframe_section sframe_fde sframe_fre sframe_find sframe_versions leb128 crash_text
  eh_header eh_entry eh_program eh_program_rows eh_expression eh_rule eh_walk cfi_rows
  arch_${SFRAME_BACKTRACE_ARCH} go_${SFRAME_BACKTRACE_ARCH})
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
  set(filter --filter "@(arch_*|step|memory|modules|loader_state|tail_ring|walker|walker_init|walker_rows|rule_cache|memo|crash_text|leb128)/*")
endif()
sfb_criterion_test(unit test-unit COST 40 ARGUMENTS ${filter})

# The machine and the walk, compiled for the other architecture, in one program with this one's: its symbols
# get names of their own. The suites that need no process walk its made-up stacks here.
if(SFRAME_BACKTRACE_ARCH STREQUAL "x86_64")
  set(other aarch64)
else()
  set(other x86_64)
endif()
string(TOUPPER ${other} other_upper)
set(sources machine/arch_${other}.c machine/insn_patterns_${other}.c machine/go_${other}.c
  walk/walker.c walk/position.c walk/step.c walk/rule_cache.c walk/walk_rules.c walk/module_rule.c
  walk/stack_root.c walk/replay.c walk/source_tables.c walk/source_signal.c walk/source_frame_pointer.c walk/proof.c walk/late_fp.c
  walk/source_libunwind_none.c)
if(other STREQUAL "x86_64")
  list(APPEND sources machine/insn_decode_x86_64.c machine/follow_x86_64.c machine/eh_return_x86_64.c)
endif()
list(TRANSFORM sources PREPEND ${PROJECT_SOURCE_DIR}/src/unwind/)
add_library(other-machine OBJECT ${sources} support/other_machine.c
  unit/arch_${other}.c unit/go_${other}.c unit/step.c unit/rule_cache.c unit/walker.c)
sfb_test_options(other-machine)
target_include_directories(other-machine PRIVATE ${PROJECT_SOURCE_DIR}/include)
target_compile_definitions(other-machine PRIVATE SFB_MACHINE_${other_upper})
target_compile_options(other-machine PRIVATE -O0)
target_link_libraries(other-machine PRIVATE PkgConfig::CRITERION)
set(file ${CMAKE_CURRENT_BINARY_DIR}/other_machine)
add_custom_command(OUTPUT ${file}.o
  COMMAND ${CMAKE_LINKER} -r -o ${file}-all.o $<TARGET_OBJECTS:other-machine>
  COMMAND sh -c "'${CMAKE_NM}' -P -g --defined-only '${file}-all.o' | sed -e 's/ .*//' -e 's/.*/& other_&/' > '${file}.names'"
  COMMAND ${CMAKE_OBJCOPY} --redefine-syms=${file}.names ${file}-all.o ${file}.o
  DEPENDS other-machine $<TARGET_OBJECTS:other-machine> COMMAND_EXPAND_LISTS VERBATIM)
add_executable(test-unit-other_machine unit/other_machine.c ${file}.o support/section_bytes.c)
sfb_test_options(test-unit-other_machine)
target_link_libraries(test-unit-other_machine PRIVATE sframe-backtrace-static PkgConfig::CRITERION)
sfb_criterion_test(unit.other_machine test-unit-other_machine)
