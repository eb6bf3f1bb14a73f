# What holds for the library as a whole: its imports and exports, its headers, its layers, and that an
# installed copy can be used, and the source on a bare machine.
set(sfb_cc_options "")
set(sfb_pkg_config_settings "") # of the sysroot, for what the system has
set(sfb_cmake_options "-DCMAKE_C_COMPILER='${CMAKE_C_COMPILER}'")
if(CMAKE_CROSSCOMPILING)
  set(sfb_cc_options "--sysroot='${CMAKE_SYSROOT}'")
  set(sfb_pkg_config_settings "PKG_CONFIG_LIBDIR='$ENV{PKG_CONFIG_LIBDIR}'")
  set(sfb_cmake_options "-DCMAKE_TOOLCHAIN_FILE='${CMAKE_TOOLCHAIN_FILE}'")
  foreach(variable ${CMAKE_TRY_COMPILE_PLATFORM_VARIABLES})
    string(APPEND sfb_cmake_options " -D${variable}='${${variable}}'")
  endforeach()
endif()

function(sfb_policy_test name)
  sfb_test(policy ${name} SHARED SOURCES support/command.c)
  target_compile_definitions(test-policy-${name} PRIVATE
    SFB_SHARED_LIBRARY="$<TARGET_FILE:sframe-backtrace-shared>"
    SFB_STATIC_LIBRARY="$<TARGET_FILE:sframe-backtrace-static>"
    SFB_NM="${CMAKE_NM}" SFB_READELF="${CMAKE_READELF}"
    SFB_CMAKE="${CMAKE_COMMAND}" SFB_GENERATOR="${CMAKE_GENERATOR}" SFB_CC="${CMAKE_C_COMPILER}"
    SFB_PROJECT_VERSION="${PROJECT_VERSION}" SFB_TOOL_PREFIX="${sfb_tool_prefix}" SFB_EMULATE="${sfb_emulate}"
    SFB_CC_OPTIONS="${sfb_cc_options}" SFB_CMAKE_OPTIONS="${sfb_cmake_options}"
    SFB_LIBUNWIND_OPTION="-DSFRAME_BACKTRACE_LIBUNWIND=${SFRAME_BACKTRACE_LIBUNWIND}"
    SFB_PROFILER_OPTION="-DSFRAME_BACKTRACE_PROFILER=${SFRAME_BACKTRACE_PROFILER}"
    SFB_HAVE_PROFILER=$<TARGET_EXISTS:sfb-recording> SFB_HAVE_AGENTS=$<TARGET_EXISTS:sfb-agent-cpu>
    SFB_HAVE_REMOTE=$<TARGET_EXISTS:sfb-remote-archive> SFB_PKG_CONFIG_SETTINGS="${sfb_pkg_config_settings}")
endfunction()

if(EXISTS ${PROJECT_SOURCE_DIR}/docs/SIGNALS.md)
  sfb_test(policy contract SOURCES support/contract_table.c)
  sfb_test(policy pages SOURCES support/command.c)
  sfb_test(policy security SOURCES support/command.c)
  sfb_test(policy words SOURCES support/command.c)
else()
  foreach(name contract pages security words)
    sfb_skip(policy ${name} "a copy of the library alone has no pages")
  endforeach()
endif()
sfb_test(policy leftovers SOURCES support/command.c)
target_compile_definitions(test-policy-leftovers PRIVATE SFB_SUPERVISE="$<TARGET_FILE:sfb-supervise>"
  SFB_CTEST="${CMAKE_CTEST_COMMAND}")
sfb_policy_test(exports)
sfb_policy_test(headers)
sfb_policy_test(layers)
sfb_policy_test(constructors)
set(sfb_agents "")
foreach(agent sfb-agent-cpu sfb-agent-heap)
  if(TARGET ${agent})
    string(APPEND sfb_agents "\"$<TARGET_FILE:${agent}>\",")
    add_dependencies(test-policy-constructors ${agent})
  endif()
endforeach()
target_compile_definitions(test-policy-constructors PRIVATE "SFB_AGENT_LIBRARIES=${sfb_agents}")
target_sources(test-policy-layers PRIVATE policy/declared.c)
if(SFRAME_BACKTRACE_SANITIZE)
  sfb_skip(policy imports "sanitizers call their runtime from every function")
  sfb_skip(policy consumer "a sanitized library wants its sanitizer in the program")
else()
  sfb_policy_test(imports)
  sfb_policy_test(consumer)
  # It installs all: a preset that builds some targets may not have built this one.
  if(TARGET sfb-remote-archive)
    add_dependencies(test-policy-consumer sfb-remote-archive)
  endif()
endif()
if(CMAKE_CROSSCOMPILING)
  sfb_skip(policy bare "what a cross build finds is its sysroot's; the native presets run it")
else()
  sfb_policy_test(bare)
endif()

# The stable ABI, against the dump of this architecture.
file(GENERATE OUTPUT ${CMAKE_CURRENT_BINARY_DIR}/abi.sh CONTENT
"machine='${SFRAME_BACKTRACE_ARCH}'
cc='${CMAKE_C_COMPILER}'
cc_options=(${sfb_cc_options})
cc_id='${CMAKE_C_COMPILER_ID}'
cc_version='${CMAKE_C_COMPILER_VERSION}'
library='$<TARGET_FILE:sframe-backtrace-shared>'
nm='${CMAKE_NM}'
readelf='${CMAKE_READELF}'
")
sfb_add_test(policy.abi COMMAND ${CMAKE_CURRENT_SOURCE_DIR}/policy/abi/check ${PROJECT_BINARY_DIR})
