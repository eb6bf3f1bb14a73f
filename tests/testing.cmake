# How tests are built and run, for the folders of tests of each product: the top CMakeLists.txt includes it once, so that
# they all know its functions and what it has found. Programs of tests, and libraries that they open, lie in ${sfb_tests_out}.
set(sfb_tests ${PROJECT_SOURCE_DIR}/tests)
set(sfb_tests_out ${PROJECT_BINARY_DIR}/tests)
find_package(PkgConfig REQUIRED)

# Whether, and how, this compiler's output gets an .sframe section: gcc hands the option to the GNU
# assembler, clang has an assembler of its own unless told otherwise.
include(CheckCSourceCompiles)
set(sfb_gsframe_options -Wa,--gsframe)
if(CMAKE_C_COMPILER_ID MATCHES "Clang")
  list(PREPEND sfb_gsframe_options -fno-integrated-as)
endif()
string(JOIN " " CMAKE_REQUIRED_FLAGS ${sfb_gsframe_options})
check_c_source_compiles("int main(void) { return 0; }" SFRAME_BACKTRACE_HAVE_GSFRAME)
unset(CMAKE_REQUIRED_FLAGS)
if(NOT SFRAME_BACKTRACE_HAVE_GSFRAME)
  set(sfb_gsframe_options "")
  message(STATUS "tests: the assembler has no --gsframe (binutils 2.40 has): live tests that need "
    "code with .sframe are skipped")
endif()

include(${PROJECT_SOURCE_DIR}/cmake/toolchains.cmake)

# What walks are compared with, whether the library uses it or not.
pkg_check_modules(UNWIND IMPORTED_TARGET libunwind)

include(CheckLanguage)
check_language(CXX)
if(CMAKE_CXX_COMPILER)
  enable_language(CXX)
endif()

# In a cross build programs run in an emulator: `emulate` runs one, and `sfb` is the command in it, for
# tests that start them. The preloaded library is for those that Criterion starts. In other builds
# nothing is put before anything.
set(sfb_emulate env)
set(sfb_command $<TARGET_FILE:sfb>)
set(sfb_tool_prefix "") # what the names of gcc, objdump and the like begin with
if(CMAKE_CROSSCOMPILING_EMULATOR)
  set(sfb_emulate ${sfb_tests_out}/emulate)
  set(sfb_command ${sfb_tests_out}/sfb)
  set(sfb_tool_prefix ${CMAKE_LIBRARY_ARCHITECTURE}-)
  string(JOIN "' '" emulator ${CMAKE_CROSSCOMPILING_EMULATOR})
  set(executable FILE_PERMISSIONS OWNER_READ OWNER_WRITE OWNER_EXECUTE)
  add_library(sfb-emulated-exec MODULE ${sfb_tests}/support/emulated_exec.c)
  target_compile_definitions(sfb-emulated-exec PRIVATE SFB_EMULATE="${sfb_emulate}")
  target_link_libraries(sfb-emulated-exec PRIVATE sfb-flags)
  file(GENERATE OUTPUT ${sfb_emulate} CONTENT "#!/bin/sh
export QEMU_SET_ENV=\"\${QEMU_SET_ENV-LD_PRELOAD=$<TARGET_FILE:sfb-emulated-exec>}\"
exec '${emulator}' \"$@\"
" ${executable})
  if(TARGET sfb)
    file(GENERATE OUTPUT ${sfb_command} CONTENT "#!/bin/sh
exec '${sfb_emulate}' '$<TARGET_FILE:sfb>' \"$@\"
" ${executable})
  endif()
  # Which ctest puts before the tests, too.
  set(CMAKE_CROSSCOMPILING_EMULATOR ${sfb_emulate})
endif()

# Runs a test and leaves nothing of it behind: a program of the machine that ctest runs on.
if(CMAKE_CROSSCOMPILING)
  find_program(SFRAME_BACKTRACE_HOST_CC NAMES cc gcc clang REQUIRED)
  set(file ${sfb_tests_out}/supervise)
  add_custom_command(OUTPUT ${file}
    COMMAND ${SFRAME_BACKTRACE_HOST_CC} -O2 -D_GNU_SOURCE
      ${sfb_tests}/support/supervise.c -o ${file}
    DEPENDS ${sfb_tests}/support/supervise.c VERBATIM)
  add_custom_target(tests-supervise ALL DEPENDS ${file})
  add_executable(sfb-supervise IMPORTED GLOBAL)
  set_target_properties(sfb-supervise PROPERTIES IMPORTED_LOCATION ${file})
else()
  add_executable(sfb-supervise ${sfb_tests}/support/supervise.c)
  target_compile_definitions(sfb-supervise PRIVATE _GNU_SOURCE)
  set_target_properties(sfb-supervise PROPERTIES OUTPUT_NAME supervise RUNTIME_OUTPUT_DIRECTORY ${sfb_tests_out})
  add_custom_target(tests-supervise DEPENDS sfb-supervise)
endif()

# Tests that judge shares of samples, in one place: support/chance runs them.
set(sfb_chance_tests "^record_truth[.]split$" "^heap_truth[.]sampled$"
  "^record_tool[.](alongside|attach|disk|locks_counted|outside_cases|proportion|python|states|waits)")
string(JOIN "|" sfb_chance_tests ${sfb_chance_tests})

# sfb_add_test(<name> [COST n] [LABELS label ...] COMMAND program|target [argument ...])
# is add_test() with the limit, at which all that the test started is killed. A process that a test leaves
# fails it. Exit status 77 says that it is skipped. Those that cost most are begun first.
function(sfb_add_test name)
  cmake_parse_arguments(arg "" "COST" "LABELS;COMMAND" ${ARGN})
  set(limit 1200) # in seconds, of every test: it only catches hangs
  if(NOT arg_COST)
    set(arg_COST 0)
  endif()
  list(POP_FRONT arg_COMMAND program)
  if(TARGET ${program})
    set(program ${CMAKE_CROSSCOMPILING_EMULATOR} $<TARGET_FILE:${program}>)
  endif()
  if(name MATCHES "${sfb_chance_tests}")
    set(program ${sfb_tests}/support/chance ${name} ${program})
  endif()
  add_test(NAME ${name} COMMAND $<TARGET_FILE:sfb-supervise> ${limit} ${name} ${program} ${arg_COMMAND})
  # ctest kills the supervisor alone, so it has to be slower.
  math(EXPR timeout "${limit} + 20")
  set_tests_properties(${name} PROPERTIES TIMEOUT ${timeout} COST ${arg_COST} SKIP_RETURN_CODE 77
    LABELS "${arg_LABELS}")
endfunction()

# A test that cannot hold in this configuration: still listed, so that nobody thinks it ran.
function(sfb_skip folder name reason)
  sfb_add_test(${folder}.${name}
    COMMAND sh -c "echo 'skipped: ${folder}.${name}: ${reason}' && exit 77")
endfunction()

# Gives a program of tests what all of them are built with.
function(sfb_test_options target)
  target_include_directories(${target} PRIVATE ${PROJECT_SOURCE_DIR}/src ${CMAKE_CURRENT_SOURCE_DIR} ${sfb_tests}
    ${PROJECT_SOURCE_DIR})
  target_compile_definitions(${target} PRIVATE
    SFB_SOURCE_DIR="${PROJECT_SOURCE_DIR}" SFB_BINARY_DIR="${PROJECT_BINARY_DIR}")
  target_link_libraries(${target} PRIVATE sfb-flags)
  if(TARGET sfb-emulated-exec)
    add_dependencies(${target} sfb-emulated-exec)
  endif()
endfunction()

# sfb_criterion_test(<name> <target> [COST n] [ARGUMENTS argument ...]) runs a Criterion program.
function(sfb_criterion_test name target)
  cmake_parse_arguments(arg "" "COST" "ARGUMENTS" ${ARGN})
  sfb_add_test(${name} COST ${arg_COST} COMMAND ${target} --jobs 1 ${arg_ARGUMENTS})
  set_tests_properties(${name} PROPERTIES
    ENVIRONMENT "ASAN_OPTIONS=handle_segv=0:detect_leaks=0;UBSAN_OPTIONS=print_stacktrace=1")
endfunction()

# sfb_support_objects(<out> [OPTIONS option ...] [LIBS target ...] SOURCES file ...) replaces files of support/ and
# oracles/ by object files, each compiled once for all the tests that want it with these options.
function(sfb_support_objects out)
  cmake_parse_arguments(arg "" "" "OPTIONS;LIBS;SOURCES" ${ARGN})
  string(MD5 key "${arg_OPTIONS}")
  string(SUBSTRING "${key}" 0 6 key)
  set(result "")
  foreach(source ${arg_SOURCES})
    if(source MATCHES "^(support|oracles)/(.+)[.]c$")
      set(object ${CMAKE_MATCH_1}-${CMAKE_MATCH_2}-${key})
      if(NOT TARGET ${object})
        add_library(${object} OBJECT ${sfb_tests}/${source})
        sfb_test_options(${object})
        target_include_directories(${object} PRIVATE ${PROJECT_SOURCE_DIR}/include)
        target_compile_options(${object} PRIVATE ${arg_OPTIONS})
        target_link_libraries(${object} PRIVATE PkgConfig::CRITERION ${arg_LIBS})
      endif()
      set(source $<TARGET_OBJECTS:${object}>)
    endif()
    list(APPEND result ${source})
  endforeach()
  set(${out} ${result} PARENT_SCOPE)
endfunction()

# sfb_test(<folder> <name> [SHARED] [GSFRAME] [VERSION 2|3] [COST n]
#          [SOURCES extra.c ...] [LIBS target ...])
# builds <folder>/<name>.c and runs it as the test <folder>.<name>. Linked with the static library, so
# that internal functions are within reach, unless SHARED. GSFRAME: its code has .sframe and no frame
# pointers; of that version, which becomes part of the names, else of the one that this machine's
# binutils write.
function(sfb_test folder name)
  cmake_parse_arguments(arg "SHARED;GSFRAME" "VERSION;COST" "SOURCES;LIBS" ${ARGN})
  set(source ${folder}/${name}.c)
  if(arg_VERSION)
    string(APPEND name -v${arg_VERSION})
  endif()
  if(arg_GSFRAME AND NOT SFRAME_BACKTRACE_HAVE_GSFRAME)
    sfb_skip(${folder} ${name} "the assembler has no --gsframe")
    return()
  endif()
  set(target test-${folder}-${name})
  set(options "")
  if(arg_GSFRAME)
    list(APPEND options ${sfb_gsframe_options} -fomit-frame-pointer)
  endif()
  if(arg_VERSION)
    list(APPEND options ${sfb_newer_${arg_VERSION}})
  endif()
  sfb_support_objects(sources OPTIONS ${options} LIBS ${arg_LIBS} SOURCES ${arg_SOURCES})
  add_executable(${target} ${source} ${sources})
  sfb_test_options(${target})
  target_compile_options(${target} PRIVATE ${options})
  if(arg_VERSION)
    target_link_options(${target} PRIVATE ${sfb_newer_${arg_VERSION}})
    set_target_properties(${target} PROPERTIES RUNTIME_OUTPUT_DIRECTORY v${arg_VERSION})
  endif()
  if(arg_SHARED)
    target_link_libraries(${target} PRIVATE sframe-backtrace-shared)
  else()
    target_link_libraries(${target} PRIVATE sframe-backtrace-static)
  endif()
  target_link_libraries(${target} PRIVATE PkgConfig::CRITERION ${arg_LIBS})
  sfb_criterion_test(${folder}.${name} ${target} COST ${arg_COST})
endfunction()

# sfb_tool_test(<folder> <name> [COST n]): one that runs the sfb command.
function(sfb_tool_test folder name)
  sfb_test(${folder} ${name} SOURCES support/run.c support/folder.c ${ARGN})
  target_compile_definitions(test-${folder}-${name} PRIVATE
    SFB_TOOL="${sfb_command}" SFB_TOOL_PREFIX="${sfb_tool_prefix}")
  add_dependencies(test-${folder}-${name} sfb)
endfunction()

# sfb_test_folders(<folder> ...): the tests of folders of this directory. The target tests-<folder> builds what they need:
# `./dev test` builds no more.
macro(sfb_test_folders)
  set(CMAKE_RUNTIME_OUTPUT_DIRECTORY ${sfb_tests_out})
  set(CMAKE_LIBRARY_OUTPUT_DIRECTORY ${sfb_tests_out})
  foreach(folder ${ARGN})
    get_property(before DIRECTORY PROPERTY BUILDSYSTEM_TARGETS)
    include(${CMAKE_CURRENT_SOURCE_DIR}/${folder}/tests.cmake)
    get_property(targets DIRECTORY PROPERTY BUILDSYSTEM_TARGETS)
    list(REMOVE_ITEM targets ${before})
    if(NOT TARGET tests-${folder}) # several products have one of this name
      add_custom_target(tests-${folder} DEPENDS tests-supervise)
    endif()
    foreach(target ${targets})
      add_dependencies(tests-${folder} ${target})
    endforeach()
  endforeach()
  include(${sfb_tests}/labels.cmake)
endmacro()

# Libraries whose rows are compared with libdw's: those that this compiler links with, and those that `./dev setup` fetches.
set(sfb_rows_files "")
foreach(name libc.so.6 libm.so.6 libstdc++.so.6 ld-linux-x86-64.so.2 ld-linux-aarch64.so.1)
  execute_process(COMMAND ${CMAKE_C_COMPILER} -print-file-name=${name}
    OUTPUT_VARIABLE file OUTPUT_STRIP_TRAILING_WHITESPACE)
  if(IS_ABSOLUTE "${file}" AND EXISTS "${file}")
    list(APPEND sfb_rows_files ${file})
  endif()
endforeach()
set(cache "$ENV{XDG_CACHE_HOME}")
if(NOT cache)
  set(cache "$ENV{HOME}/.cache")
endif()
set(file ${cache}/sframe-backtrace/aarch64/lib/aarch64-linux-gnu/libc.so.6)
if(EXISTS ${file})
  list(APPEND sfb_rows_files ${file})
endif()
