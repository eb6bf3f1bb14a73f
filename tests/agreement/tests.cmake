# Agreement at every instruction: programs are stepped through, and every stack is walked by this
# library, by libunwind and by libgcc. `run` here is the long campaign (`./dev agreement`), the test
# live.stepped a short one. `true_ends` judges stacks by the calls that were executed (`./dev agreement
# --true-ends`), and live.true_ends is short, too.

find_path(SFRAME_BACKTRACE_LIBUNWIND_HEADERS libunwind.h)
set(skip "")
if(NOT SFRAME_BACKTRACE_LIBUNWIND_HEADERS)
  set(skip "libunwind.h was not found: it is what stacks are compared with")
elseif(SFRAME_BACKTRACE_SANITIZE)
  set(skip "a sanitised library cannot be preloaded into a plain program")
endif()
set(config ${CMAKE_CURRENT_BINARY_DIR}/agreement.sh)

if(skip)
  file(WRITE ${config} "skip='${skip}'\n")
else()
  include(${PROJECT_SOURCE_DIR}/tests/oracles/oracles.cmake)
  add_library(sfb-stepper SHARED agreement/stepper.c agreement/judge.c agreement/report.c
    agreement/preload.c agreement/handlers.c agreement/guard_${SFRAME_BACKTRACE_ARCH}.c
    agreement/burst.c agreement/shadow.c agreement/shadow_judge.c agreement/shadow_report.c
    agreement/shadow_${SFRAME_BACKTRACE_ARCH}.c ${sfb_loaded_oracles})
  set_target_properties(sfb-stepper PROPERTIES C_VISIBILITY_PRESET hidden)
  target_include_directories(sfb-stepper PRIVATE
    ${CMAKE_CURRENT_SOURCE_DIR} ${CMAKE_CURRENT_SOURCE_DIR}/agreement)
  target_include_directories(sfb-stepper SYSTEM PRIVATE ${SFRAME_BACKTRACE_LIBUNWIND_HEADERS})
  # No lazy binding in the handler: it takes the loader's lock.
  target_link_options(sfb-stepper PRIVATE -Wl,-z,now)
  target_link_libraries(sfb-stepper PRIVATE sfb-flags sfb-both ${CMAKE_DL_LIBS})

  # Without .sframe, as programs are today; with it, in each version; and with holes between its segments, which makes the
  # loader speak of each as if it were an object of its own. The options are those of Debian's packages,
  # whatever the preset's are.
  include(CheckLanguage)
  check_language(CXX)
  set(awkward_sources agreement/awkward.c)
  if(CMAKE_CXX_COMPILER)
    enable_language(CXX)
    list(APPEND awkward_sources agreement/awkward_cxx.cpp)
  endif()
  set(programs "")
  set(variants plain sframe holes)
  foreach(version ${sfb_newer_versions})
    list(APPEND variants sframe-v${version})
  endforeach()
  foreach(variant ${variants})
    if(variant STREQUAL "sframe" AND NOT SFRAME_BACKTRACE_HAVE_GSFRAME)
      continue()
    endif()
    set(target awkward-${variant})
    add_executable(${target} ${awkward_sources})
    target_compile_definitions(${target} PRIVATE _GNU_SOURCE)
    target_compile_options(${target} PRIVATE -g -O2 -fomit-frame-pointer -fPIE)
    if(variant MATCHES "^sframe")
      target_compile_options(${target} PRIVATE ${sfb_gsframe_options})
    endif()
    if(variant MATCHES "-v([0-9])$")
      target_compile_options(${target} PRIVATE ${sfb_newer_${CMAKE_MATCH_1}})
      target_link_options(${target} PRIVATE ${sfb_newer_${CMAKE_MATCH_1}})
      set_target_properties(${target} PROPERTIES RUNTIME_OUTPUT_DIRECTORY v${CMAKE_MATCH_1})
    endif()
    if(variant STREQUAL "holes")
      target_link_options(${target} PRIVATE -no-pie -Wl,-z,lazy -Wl,-z,separate-code
        -Wl,-z,max-page-size=0x200000)
    else()
      target_link_options(${target} PRIVATE -pie -Wl,-z,lazy)
    endif()
    target_link_libraries(${target} PRIVATE ${CMAKE_DL_LIBS} -pthread)
    if(CMAKE_CROSSCOMPILING)
      target_link_options(${target} PRIVATE -static-libstdc++) # no more of C++ is there
    endif()
    string(APPEND programs " '$<TARGET_FILE:${target}>'")
  endforeach()
  # Built with frame pointers, so that code which leaves rbp alone leads a guess past its caller.
  set(made_code "")
  if(SFRAME_BACKTRACE_ARCH STREQUAL "x86_64")
    add_executable(made-code agreement/made_code.c)
    target_compile_definitions(made-code PRIVATE _GNU_SOURCE)
    target_compile_options(made-code PRIVATE -g -O2 -fno-omit-frame-pointer -fno-optimize-sibling-calls)
    set(made_code "$<TARGET_FILE:made-code>")
  endif()
  string(JOIN "' '" emulator ${CMAKE_CROSSCOMPILING_EMULATOR})
  if(emulator)
    set(emulator "'${emulator}'")
  endif()
  file(GENERATE OUTPUT ${config} CONTENT
"skip=''
machine='${SFRAME_BACKTRACE_ARCH}'
emulator=(${emulator})
awkward=(${programs} )
made_code='${made_code}'
stepper='$<TARGET_FILE:sfb-stepper>'
library='$<TARGET_FILE:sframe-backtrace-shared>'
")
endif()

# What is taken out, to see what it is good for, is found in the code as it is now.
if(EXISTS ${PROJECT_SOURCE_DIR}/bench/ablation)
  sfb_add_test(policy.ablation COMMAND sh -c
    "'${PROJECT_SOURCE_DIR}/bench/ablation' --check &&
     '${CMAKE_CURRENT_SOURCE_DIR}/agreement/ablation' '${PROJECT_BINARY_DIR}' --check")
else()
  sfb_skip(policy ablation "a copy of the library alone has no benchmark")
endif()

sfb_add_test(live.stepped
  COMMAND ${CMAKE_CURRENT_SOURCE_DIR}/agreement/run --short ${PROJECT_BINARY_DIR})
sfb_add_test(live.true_ends
  COMMAND ${CMAKE_CURRENT_SOURCE_DIR}/agreement/true_ends --short ${PROJECT_BINARY_DIR})
