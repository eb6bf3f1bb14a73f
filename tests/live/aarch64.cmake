# What only AArch64 has: signed return addresses, frame records, a return address in a register. Plain
# programs: each says what it found and exits with 0 if that is right.

# sfb_machine_program(<target> <source>... [LIBRARY target] [OPTIONS option...]): code with .sframe, whose
# functions dladdr() can name.
function(sfb_machine_program target)
  cmake_parse_arguments(arg "" "LIBRARY" "OPTIONS" ${ARGN})
  add_executable(${target} ${arg_UNPARSED_ARGUMENTS})
  target_include_directories(${target} PRIVATE ${PROJECT_SOURCE_DIR}/src ${CMAKE_CURRENT_SOURCE_DIR})
  target_compile_options(${target} PRIVATE -O2 ${sfb_gsframe_options} ${arg_OPTIONS})
  target_link_libraries(${target} PRIVATE ${arg_LIBRARY} sfb-flags)
  set_target_properties(${target} PROPERTIES ENABLE_EXPORTS ON)
endfunction()

# sfb_machine_test(<name> <target> signs|hints [FAST]) runs a program as live.<name>, on a processor that
# signs return addresses or on one for which that is a hint, and tells it so. FAST: it signs by a simpler
# function than Arm's, which takes long in software. Without an emulator there is only one, and nothing to
# tell.
function(sfb_machine_test name target processor)
  set(command ${sfb_emulate})
  if(NOT CMAKE_CROSSCOMPILING_EMULATOR)
    if(processor STREQUAL "hints")
      return()
    endif()
    set(processor "")
  elseif(processor STREQUAL "hints")
    list(APPEND command -cpu cortex-a53) # after, and so instead of, the one that is always given
  elseif("FAST" IN_LIST ARGN)
    list(APPEND command -cpu max,pauth-impdef=on)
  endif()
  sfb_add_test(live.${name} COMMAND ${command} $<TARGET_FILE:${target}> ${processor})
endfunction()

# As gcc compiles by default, with frame records; and a static program, whose libc has them, too.
foreach(kind dynamic static)
  set(target test-live-frame_records-${kind})
  sfb_machine_program(${target} live/frame_records_aarch64.c support/trace.c oracles/linked_libgcc.c
    LIBRARY sframe-backtrace-static OPTIONS -fno-omit-frame-pointer)
  target_compile_definitions(${target} PRIVATE STATIC=$<STREQUAL:${kind},static>)
  if(kind STREQUAL "static")
    target_link_options(${target} PRIVATE -static)
    set_target_properties(${target} PROPERTIES ENABLE_EXPORTS OFF)
  endif()
  if(kind STREQUAL "dynamic" AND SFRAME_BACKTRACE_LIBUNWIND)
    target_sources(${target} PRIVATE oracles/linked_libunwind.c)
    target_link_libraries(${target} PRIVATE PkgConfig::UNWIND)
    target_compile_definitions(${target} PRIVATE WITH_LIBUNWIND=1)
  else()
    target_compile_definitions(${target} PRIVATE WITH_LIBUNWIND=0)
  endif()
  sfb_machine_test(frame_records-${kind} ${target} signs)
endforeach()

add_library(at_start SHARED live/libs/at_start_aarch64.c support/trace.c oracles/linked_libgcc.c)
target_include_directories(at_start PRIVATE ${CMAKE_CURRENT_SOURCE_DIR})
target_compile_options(at_start PRIVATE ${sfb_gsframe_options})
target_link_libraries(at_start PRIVATE sframe-backtrace-shared sfb-flags)
sfb_machine_program(test-live-outermost live/outermost_aarch64.c LIBRARY at_start)
sfb_machine_test(outermost test-live-outermost signs)

if(NOT SFRAME_BACKTRACE_LIBUNWIND)
  foreach(name pauth single_step)
    sfb_skip(live ${name} "out of libc, which has no .sframe, and to the end it is libunwind that leads")
  endforeach()
  return()
endif()

# This library once more, signing its own return addresses.
set(signing_sources "")
get_target_property(sources sfb-objects SOURCES)
foreach(source ${sources})
  cmake_path(ABSOLUTE_PATH source BASE_DIRECTORY ${PROJECT_SOURCE_DIR})
  list(APPEND signing_sources ${source})
endforeach()
add_library(sframe-backtrace-signing STATIC ${signing_sources})
target_include_directories(sframe-backtrace-signing PUBLIC ${PROJECT_SOURCE_DIR}/include
  PRIVATE ${PROJECT_SOURCE_DIR}/src)
target_include_directories(sframe-backtrace-signing SYSTEM PRIVATE
  ${SFRAME_BACKTRACE_LIBUNWIND_INCLUDE_DIR})
target_link_libraries(sframe-backtrace-signing PRIVATE sfb-flags)
target_compile_options(sframe-backtrace-signing PRIVATE
  $<TARGET_PROPERTY:sfb-objects,COMPILE_OPTIONS>
  $<$<COMPILE_LANGUAGE:C>:-mbranch-protection=standard>)

# What gcc calls it, and with instructions that do two things at once, such as retaa, which processors
# that take the others for hints do not have.
set(protections none pac-ret pac-ret+leaf pac-ret+b-key standard armv8.3)
foreach(protection ${protections})
  set(options_${protection} -mbranch-protection=${protection})
  set(processors_${protection} signs hints)
  set(library_${protection} sframe-backtrace-static)
endforeach()
set(options_armv8.3 -march=armv8.3-a -mbranch-protection=standard)
set(processors_armv8.3 signs)
set(library_standard sframe-backtrace-signing)

foreach(protection ${protections})
  foreach(records omit keep)
    set(options ${options_${protection}} -fomit-frame-pointer -DFRAME_POINTERS=0)
    if(records STREQUAL "keep")
      set(options ${options_${protection}} -fno-omit-frame-pointer -mno-omit-leaf-frame-pointer
        -DFRAME_POINTERS=1)
    endif()
    set(target test-live-pauth-${protection}-${records})
    sfb_machine_program(${target} live/pauth_aarch64.c support/trace.c oracles/linked_libgcc.c
      LIBRARY ${library_${protection}} OPTIONS ${options})
    foreach(processor ${processors_${protection}})
      sfb_machine_test(pauth-${protection}-${records}-${processor} ${target} ${processor})
    endforeach()

    # Lazy binding, whatever the compiler's default: see the program. libunwind, which takes ten times as
    # long as all the rest together, reads code only that does not sign.
    set(target test-live-single_step-${protection}-${records})
    set(libunwind 0)
    if(protection STREQUAL "none" AND records STREQUAL "omit")
      set(libunwind 1)
    endif()
    sfb_machine_program(${target} live/single_step_aarch64.c support/trace.c support/ways.c
      oracles/linked_libgcc.c LIBRARY ${library_${protection}} OPTIONS ${options} -DWITH_LIBUNWIND=${libunwind})
    target_link_options(${target} PRIVATE -Wl,-z,lazy)
    if(libunwind)
      target_sources(${target} PRIVATE oracles/linked_libunwind.c)
      target_link_libraries(${target} PRIVATE PkgConfig::UNWIND)
    endif()
    foreach(processor ${processors_${protection}})
      if(processor STREQUAL "signs" OR protection STREQUAL "standard")
        sfb_machine_test(single_step-${protection}-${records}-${processor} ${target} ${processor} FAST)
      endif()
    endforeach()
  endforeach()
endforeach()

# Versions 2 and 3, of code that signs.
foreach(version ${sfb_newer_versions})
  set(target test-live-single_step-v${version})
  sfb_machine_program(${target} live/single_step_aarch64.c support/trace.c support/ways.c
    oracles/linked_libgcc.c LIBRARY sframe-backtrace-static OPTIONS ${options_pac-ret+b-key}
    -fomit-frame-pointer -DFRAME_POINTERS=0 -DWITH_LIBUNWIND=0 ${sfb_newer_${version}})
  target_link_options(${target} PRIVATE -Wl,-z,lazy ${sfb_newer_${version}})
  set_target_properties(${target} PROPERTIES RUNTIME_OUTPUT_DIRECTORY v${version})
  sfb_machine_test(single_step-v${version} ${target} signs FAST)
endforeach()
