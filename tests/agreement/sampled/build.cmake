# The sampler, and what `run` needs to know. Included by CMakeLists.txt, which builds Lua: tests-demo, sfb_tool,
# sfb_sampled_builds. Without libunwind's header there is nobody to compare with.

# The oracle's, whether the library uses it or not.
find_path(SFRAME_BACKTRACE_LIBUNWIND_HEADERS libunwind.h)
if(NOT SFRAME_BACKTRACE_LIBUNWIND_HEADERS)
  file(WRITE ${CMAKE_CURRENT_BINARY_DIR}/sampled.sh
    "skip='libunwind.h was not found: it is what every stack is compared with'\n")
  return()
endif()

include(${PROJECT_SOURCE_DIR}/tests/oracles/oracles.cmake)
set(sources ${sfb_sampled}/sampler.c ${sfb_sampled}/compare.c ${sfb_sampled}/report.c ${sfb_loaded_oracles})
if(SFRAME_BACKTRACE_SANITIZE)
  # A sanitised library cannot be preloaded into a plain program, so here the sampler is part of the
  # host, which then runs the scripts of the lua program, too.
  set(users sfb-host)
  if(TARGET sfb-host-pac)
    list(APPEND users sfb-host-pac)
  endif()
  foreach(target ${users})
    target_sources(${target} PRIVATE ${sources})
  endforeach()
  set(sampler "")
else()
  add_library(sfb-sampler SHARED ${sources})
  set_target_properties(sfb-sampler PROPERTIES C_VISIBILITY_PRESET hidden)
  add_dependencies(tests-demo sfb-sampler)
  set(users sfb-sampler)
  set(sampler $<TARGET_FILE:sfb-sampler>)
endif()
foreach(target ${users})
  # No lazy binding in the handler: it takes the loader's lock.
  target_link_options(${target} PRIVATE -Wl,-z,now)
  target_link_libraries(${target} PRIVATE sfb-flags sfb-both ${CMAKE_DL_LIBS})
  target_include_directories(${target} PRIVATE ${PROJECT_SOURCE_DIR}/tests)
  target_include_directories(${target} SYSTEM PRIVATE ${SFRAME_BACKTRACE_LIBUNWIND_HEADERS})
endforeach()
if(TARGET sfb)
  add_dependencies(tests-demo sfb)
endif()

# Signatures of return addresses by a simpler function than Arm's, which takes half the time in software.
string(JOIN "' '" emulator ${CMAKE_CROSSCOMPILING_EMULATOR})
string(REPLACE "'max'" "'max,pauth-impdef=on'" emulator "${emulator}")
if(emulator)
  set(emulator "'${emulator}'")
endif()
file(GENERATE OUTPUT ${CMAKE_CURRENT_BINARY_DIR}/sampled.sh CONTENT
"skip=''
machine='${SFRAME_BACKTRACE_ARCH}'
emulator=(${emulator})
builds=(${sfb_sampled_builds})
lua='$<TARGET_FILE:lua>'
host='$<TARGET_FILE:sfb-host>'
sampler='${sampler}'
sfb='${sfb_tool}'
")
