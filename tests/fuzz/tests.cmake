# Fuzz targets. In every build but one a target is a program that runs the files given to it, and its
# corpus is a test; with SFRAME_BACKTRACE_FUZZ (the preset `fuzz`, which needs clang) libFuzzer drives it.
option(SFRAME_BACKTRACE_FUZZ "build the fuzz targets for libFuzzer" OFF)

# Makes packs of inputs and takes them apart: CONTRIBUTING.md.
add_executable(fuzz-pack fuzz/pack_tool.c fuzz/pack.c)
target_include_directories(fuzz-pack PRIVATE ${PROJECT_SOURCE_DIR}/src ${CMAKE_CURRENT_SOURCE_DIR})
target_link_libraries(fuzz-pack PRIVATE sfb-flags)

# sfb_fuzz(<name> <corpus> [PACKED]) builds fuzz_<name>.c as fuzz-<name> and runs corpus/<corpus>, the
# inputs that have names, and those of corpus/<corpus>.pack.
function(sfb_fuzz name corpus)
  cmake_parse_arguments(arg "PACKED" "" "" ${ARGN})
  set(target fuzz-${name})
  set(folder ${CMAKE_CURRENT_SOURCE_DIR}/fuzz)
  set(pack "")
  if(arg_PACKED)
    set(pack ${folder}/corpus/${corpus}.pack)
  endif()
  add_executable(${target} ${folder}/fuzz_${name}.c)
  target_include_directories(${target} PRIVATE ${PROJECT_SOURCE_DIR} ${PROJECT_SOURCE_DIR}/src ${sfb_tests} ${sfb_tests}/fuzz)
  target_link_libraries(${target} PRIVATE sframe-backtrace-static sfb-flags)
  if(SFRAME_BACKTRACE_FUZZ)
    target_link_options(${target} PRIVATE -fsanitize=fuzzer)
    # libFuzzer reads folders: here are all inputs of a target, for `./dev fuzz`, too. Laid out at every
    # build: new ones are in no list.
    set(inputs ${sfb_tests_out}/corpus/${name})
    set(unpack "")
    if(arg_PACKED)
      set(unpack COMMAND fuzz-pack unpack ${pack} ${inputs})
    endif()
    add_custom_target(fuzz-inputs-${name}
      COMMAND ${CMAKE_COMMAND} -E copy_directory ${folder}/corpus/${corpus} ${inputs} ${unpack} VERBATIM)
    add_dependencies(${target} fuzz-inputs-${name})
    # Without a limit on runs libFuzzer would never stop; 0 runs the corpus only.
    sfb_add_test(fuzz.${name} COMMAND ${target} -runs=0 ${inputs})
  else()
    target_sources(${target} PRIVATE ${sfb_tests}/fuzz/driver.c ${sfb_tests}/fuzz/pack.c)
    sfb_add_test(fuzz.${name} COMMAND ${target} ${folder}/corpus/${corpus} ${pack})
  endif()
endfunction()

sfb_fuzz(cbf_decoder cbf)
sfb_fuzz(eh_frame eh_frame PACKED)
sfb_fuzz(sframe sframe)
sfb_fuzz(walk walk PACKED)

if(SFRAME_BACKTRACE_FUZZ)
  sfb_skip(fuzz packs "libFuzzer drives the targets here")
else()
  sfb_test(fuzz packs SOURCES support/command.c)
  target_compile_definitions(test-fuzz-packs PRIVATE SFB_EMULATE="${sfb_emulate}")
  add_dependencies(test-fuzz-packs fuzz-pack fuzz-cbf_decoder)
endif()
