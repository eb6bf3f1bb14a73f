# Torture: what goes wrong on purpose. `run` here is the long campaign (`./dev torture`); the tests are
# short ones of the same programs, and one that their findings are noticed.

set(skip "")
if(NOT SFRAME_BACKTRACE_HAVE_GSFRAME)
  set(skip "the assembler has no --gsframe")
elseif(SFRAME_BACKTRACE_SANITIZE)
  set(skip "stacks with red zones cannot be copied, and sanitizers have signal handlers of their own")
endif()
set(storms dlopen storm)
if(CMAKE_CROSSCOMPILING_EMULATOR)
  set(no_storm "an emulator makes no such load")
else()
  set(no_storm "")
endif()
find_path(SFRAME_BACKTRACE_LIBUNWIND_HEADERS libunwind.h)
include(CheckLanguage)
check_language(CXX)

# sfb_torture_program(<name> SOURCES file ... [LIBS target ...])
function(sfb_torture_program name)
  cmake_parse_arguments(arg "" "" "SOURCES;LIBS" ${ARGN})
  add_executable(torture-${name} ${arg_SOURCES})
  target_include_directories(torture-${name} PRIVATE ${PROJECT_SOURCE_DIR}/src
    ${CMAKE_CURRENT_SOURCE_DIR} ${CMAKE_CURRENT_SOURCE_DIR}/torture)
  target_compile_definitions(torture-${name} PRIVATE SFB_TEST_LIBS="${CMAKE_CURRENT_BINARY_DIR}")
  target_compile_options(torture-${name} PRIVATE $<$<COMPILE_LANGUAGE:C>:${sfb_gsframe_options}>
    -fomit-frame-pointer)
  target_link_libraries(torture-${name} PRIVATE sframe-backtrace-static sfb-flags ${arg_LIBS}
    ${CMAKE_DL_LIBS})
endfunction()

if(NOT skip)
  sfb_torture_program(stacks SOURCES torture/stacks.c torture/trials.c support/trace.c support/ways.c)
  foreach(kind sframe bare)
    add_library(torture-frames-${kind} MODULE torture/libs/frames.c)
    target_compile_options(torture-frames-${kind} PRIVATE -O1 -fomit-frame-pointer
      $<$<STREQUAL:${kind},sframe>:${sfb_gsframe_options}>)
    # Without it nothing that a library's tables say is remembered.
    target_link_options(torture-frames-${kind} PRIVATE -Wl,--build-id=none)
  endforeach()
  sfb_torture_program(tables SOURCES torture/tables.c torture/trials.c support/trace.c)
  add_dependencies(torture-tables torture-frames-sframe torture-frames-bare)
  if(NOT no_storm)
    sfb_torture_program(dlopen SOURCES torture/dlopen.c torture/storms.c support/trace.c)
    if(TARGET frames-64)
      add_dependencies(torture-dlopen frames-64 frames-96 frames-5000 frames-bare)
    else()
      list(REMOVE_ITEM storms dlopen)
    endif()
    if(CMAKE_CXX_COMPILER AND SFRAME_BACKTRACE_LIBUNWIND_HEADERS)
      enable_language(CXX)
      sfb_torture_program(storm SOURCES torture/storm.c torture/throws.cpp torture/storms.c
        support/trace.c)
      target_include_directories(torture-storm SYSTEM PRIVATE ${SFRAME_BACKTRACE_LIBUNWIND_HEADERS})
    else()
      list(REMOVE_ITEM storms storm)
    endif()
  endif()
endif()
string(JOIN " " storm_list ${storms})
string(JOIN "' '" emulator ${CMAKE_CROSSCOMPILING_EMULATOR})
if(emulator)
  set(emulator "'${emulator}'")
endif()
file(WRITE ${CMAKE_CURRENT_BINARY_DIR}/torture.sh
"skip='${skip}'
no_storm='${no_storm}'
emulator=(${emulator})
storms=(${storm_list})
")

foreach(part stacks tables dlopen storm self)
  sfb_add_test(torture.${part} LABELS torture
    COMMAND ${CMAKE_CURRENT_SOURCE_DIR}/torture/run --short ${PROJECT_BINARY_DIR} ${part})
endforeach()
