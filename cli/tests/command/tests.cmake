# The sfb command as a user runs it.
# What ./dev demo shows.
if(NOT TARGET sfb-agent-cpu OR NOT TARGET sfb-agent-heap OR NOT TARGET sfb OR CMAKE_CROSSCOMPILING OR SFRAME_BACKTRACE_SANITIZE)
  sfb_skip(command demo "no agent can be preloaded in this build")
else()
  sfb_add_test(command.demo COMMAND ${CMAKE_CURRENT_SOURCE_DIR}/command/demo ${PROJECT_BINARY_DIR})
endif()

# Coroutines of gcc and clang, in a program of examples/.
if(NOT TARGET sfb OR CMAKE_CROSSCOMPILING OR SFRAME_BACKTRACE_SANITIZE)
  sfb_skip(command coroutines "its program is of this machine, and without a sanitizer")
else()
  sfb_add_test(command.coroutines COMMAND ${CMAKE_CURRENT_SOURCE_DIR}/command/coroutines ${PROJECT_BINARY_DIR})
endif()

# What the pages show, and the programs of examples: built, run and compared.
if(NOT TARGET sfb-agent-cpu OR NOT TARGET sfb-agent-heap OR NOT TARGET sfb OR CMAKE_CROSSCOMPILING OR SFRAME_BACKTRACE_SANITIZE)
  sfb_skip(command examples "no agent can be preloaded in this build")
elseif(NOT SFRAME_BACKTRACE_HAVE_GSFRAME)
  sfb_skip(command examples "the assembler has no --gsframe, with which the pages build")
else()
  sfb_add_test(command.examples COMMAND ${PROJECT_SOURCE_DIR}/cli/tests/command/examples ${PROJECT_BINARY_DIR})
endif()

if(TARGET sfb)
  foreach(name cli options cbf symbolize log collect process debuginfod hostile signals)
    sfb_tool_test(command ${name})
  endforeach()
  target_link_libraries(test-command-hostile PRIVATE PkgConfig::JANSSON)
  if(CMAKE_CROSSCOMPILING OR SFRAME_BACKTRACE_SANITIZE)
    sfb_skip(command large_file "an emulator's or a sanitizer's memory is measured, too")
  else()
    sfb_tool_test(command large_file)
  endif()
  foreach(name process debuginfod)
    target_compile_definitions(test-command-${name} PRIVATE
      SFB_EMULATED=$<BOOL:${CMAKE_CROSSCOMPILING_EMULATOR}>)
  endforeach()
  # It is what is symbolized, down to inlined functions and lines.
  target_compile_options(test-command-symbolize PRIVATE -g)
endif()

# What a build without a product says of its commands.
if(TARGET sfb)
  sfb_test(command left_out LIBS sfb-cli)
  target_sources(test-command-left_out PRIVATE ${PROJECT_SOURCE_DIR}/cli/left_out.c)
  target_compile_definitions(test-command-left_out PRIVATE SFB_NO_PROFILER="no such library"
    SFB_NO_TOOLCHAIN="no such folder")
endif()

# Where the files of modules are: symbols.
if(TARGET sfb)
  sfb_tool_test(command debug_files LIBS sfb-symbols PkgConfig::LIBELF PkgConfig::LIBDW)
endif()

# Programs that crash, in C and C++, with the shared library and without any. Static ones need a table
# that can be searched, as every walk does: gcc leaves --eh-frame-hdr out of -static.
set(sfb_crash_kinds "")
foreach(language c cpp)
  foreach(kind dynamic static)
    if(language STREQUAL "cpp" AND NOT CMAKE_CXX_COMPILER)
      sfb_skip(command crash-${language}-${kind} "there is no C++ compiler")
      continue()
    elseif(kind STREQUAL "static" AND SFRAME_BACKTRACE_SANITIZE)
      sfb_skip(command crash-${language}-${kind} "there are no sanitizers for static programs")
      continue()
    endif()
    if(CMAKE_CROSSCOMPILING AND NOT "${language}-${kind}" MATCHES "^(c-dynamic|cpp-static)$")
      continue() # each takes an emulator 15 s; and two of four have met either language and either kind
    endif()
    set(target crash-program-${language}-${kind})
    add_executable(${target} command/crash_program.${language})
    target_include_directories(${target} PRIVATE ${CMAKE_CURRENT_SOURCE_DIR} ${sfb_tests})
    target_compile_options(${target} PRIVATE -O1 -g -fno-optimize-sibling-calls)
    target_compile_definitions(${target} PRIVATE _GNU_SOURCE)
    if(kind STREQUAL "static")
      target_link_libraries(${target} PRIVATE sframe-backtrace-static sfb-flags)
      target_link_options(${target} PRIVATE -static -Wl,--eh-frame-hdr)
    else()
      target_link_libraries(${target} PRIVATE sframe-backtrace-shared sfb-flags)
    endif()
    list(APPEND sfb_crash_kinds "\"${language}-${kind}\"")
  endforeach()
endforeach()
if(TARGET sfb)
  sfb_tool_test(command crash support/child.c COST 60) # some situations wait for seconds
  string(JOIN "," kinds ${sfb_crash_kinds})
  target_compile_definitions(test-command-crash PRIVATE SFB_CRASH_KINDS=${kinds}
    SFB_PROGRAMS="${sfb_tests_out}" SFB_EMULATE="${sfb_emulate}"
    SFB_EMULATED=$<BOOL:${CMAKE_CROSSCOMPILING_EMULATOR}>)
  foreach(kind ${sfb_crash_kinds})
    string(REPLACE "\"" "" kind ${kind})
    add_dependencies(test-command-crash crash-program-${kind})
  endforeach()
endif()

if(TARGET sfb)
  sfb_tool_test(command lws)
  set(kinds "")
  foreach(language c cpp)
    if(language STREQUAL "cpp" AND NOT CMAKE_CXX_COMPILER)
      continue()
    endif()
    add_executable(pool-program-${language} command/pool_program.${language})
    target_compile_options(pool-program-${language} PRIVATE -O1 -g -Wall -Wextra -fno-optimize-sibling-calls)
    target_link_libraries(pool-program-${language} PRIVATE sframe-backtrace-shared sfb-flags)
    add_dependencies(test-command-lws pool-program-${language})
    list(APPEND kinds "\"${language}\"")
  endforeach()
  string(JOIN "," kinds ${kinds})
  target_compile_definitions(test-command-lws PRIVATE SFB_POOL_KINDS=${kinds}
    SFB_PROGRAMS="${sfb_tests_out}" SFB_EMULATE="${sfb_emulate}")
  target_sources(test-command-lws PRIVATE ${PROJECT_SOURCE_DIR}/contrib/lws/lws_note.c)
endif()


# Traces of apitrace, made here.
if(TARGET sfb-apitrace AND TARGET sfb)
  sfb_tool_test(command apitrace)
  target_link_libraries(test-command-apitrace PRIVATE PkgConfig::SNAPPY)
elseif(TARGET sfb)
  sfb_skip(command apitrace "there is no libsnappy")
endif()

# Crash logs of Swift, in JSON.
if(TARGET sfb)
  sfb_tool_test(command swift_json)
endif()
