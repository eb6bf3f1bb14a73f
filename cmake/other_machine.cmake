# The machine and the walk, compiled for the architecture that is not this one, for one program with this one's: their symbols
# get names of their own, which begin with other_.
if(SFRAME_BACKTRACE_ARCH STREQUAL "x86_64")
  set(sfb_other_arch aarch64)
else()
  set(sfb_other_arch x86_64)
endif()

set(sfb_other_walk machine/arch_${sfb_other_arch}.c machine/insn_patterns_${sfb_other_arch}.c machine/go_${sfb_other_arch}.c
  walk/walker.c walk/position.c walk/step.c walk/rule_cache.c walk/walk_rules.c walk/module_rule.c
  walk/stack_root.c walk/replay.c walk/source_tables.c walk/source_signal.c walk/source_frame_pointer.c walk/proof.c walk/late_fp.c
  walk/source_libunwind_none.c)
if(sfb_other_arch STREQUAL "x86_64")
  list(APPEND sfb_other_walk machine/insn_decode_x86_64.c machine/follow_x86_64.c machine/eh_return_x86_64.c)
endif()
list(TRANSFORM sfb_other_walk PREPEND ${PROJECT_SOURCE_DIR}/src/unwind/)

# sfb_other_machine(<target> <source> ...): an object library of the walk and these sources, whose options the caller sets.
# <target>_object is the file to link.
function(sfb_other_machine target)
  string(TOUPPER ${sfb_other_arch} upper)
  add_library(${target} OBJECT ${sfb_other_walk} ${ARGN})
  target_include_directories(${target} PRIVATE ${PROJECT_SOURCE_DIR}/include)
  target_compile_definitions(${target} PRIVATE SFB_MACHINE_${upper})
  set(file ${CMAKE_CURRENT_BINARY_DIR}/${target})
  add_custom_command(OUTPUT ${file}.o
    COMMAND ${CMAKE_LINKER} -r -o ${file}-all.o $<TARGET_OBJECTS:${target}>
    COMMAND sh -c "'${CMAKE_NM}' -P -g --defined-only '${file}-all.o' | sed -e 's/ .*//' -e 's/.*/& other_&/' > '${file}.names'"
    COMMAND ${CMAKE_OBJCOPY} --redefine-syms=${file}.names ${file}-all.o ${file}.o
    DEPENDS ${target} $<TARGET_OBJECTS:${target}> COMMAND_EXPAND_LISTS VERBATIM)
  set(${target}_object ${file}.o PARENT_SCOPE)
endfunction()
