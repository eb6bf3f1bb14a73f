# sfb synth: what its tests run besides it. synth.command is the short test; `run` here is the long one.
if(TARGET sfb)
  add_executable(test-synth-rows synth/rows.c synth/eh_frame.c synth/section.c)
  target_link_libraries(test-synth-rows PRIVATE sframe-backtrace-static sfb-flags
    PkgConfig::LIBELF PkgConfig::LIBDW)
  add_executable(test-synth-walk synth/walk.c)
  target_link_libraries(test-synth-walk PRIVATE sframe-backtrace-static sfb-flags ${CMAKE_DL_LIBS})

  add_executable(test-synth-glibc synth/glibc.c)
  target_link_libraries(test-synth-glibc PRIVATE sframe-backtrace-static sfb-flags ${CMAKE_DL_LIBS})
  set_target_properties(test-synth-glibc PROPERTIES ENABLE_EXPORTS ON)
  add_library(synth-glibc MODULE synth/glibc_library.c)
  target_link_libraries(synth-glibc PRIVATE sfb-flags)

  set(odd "")
  if(SFRAME_BACKTRACE_ARCH STREQUAL "x86_64")
    add_library(synth-odd MODULE ${sfb_tests}/live/libs/odd_cfi.S)
    set_target_properties(synth-odd PROPERTIES LINKER_LANGUAGE C)
    set(odd $<TARGET_FILE:synth-odd>)
  endif()
  set(walk $<TARGET_FILE:test-synth-walk>)
  if(SFRAME_BACKTRACE_SANITIZE)
    set(walk "")
  endif()
  set(ra_x86_64 rip)
  set(ra_aarch64 x30)
  execute_process(COMMAND ${CMAKE_C_COMPILER} -print-file-name=libc.so.6 OUTPUT_VARIABLE libc
    OUTPUT_STRIP_TRAILING_WHITESPACE)
  foreach(name command command_versions)
    sfb_tool_test(synth ${name})
    add_dependencies(test-synth-${name} test-synth-rows test-synth-walk)
    if(odd)
      add_dependencies(test-synth-${name} synth-odd)
    endif()
    target_compile_definitions(test-synth-${name} PRIVATE SFB_EMULATE="${sfb_emulate}"
      SFB_ROWS="$<TARGET_FILE:test-synth-rows>" SFB_WALK="${walk}" SFB_ODD_LIBRARY="${odd}"
      SFB_LIBC="${libc}" SFB_RA_COLUMN="${ra_${SFRAME_BACKTRACE_ARCH}}")
    foreach(version ${sfb_newer_versions})
      target_compile_definitions(test-synth-${name} PRIVATE
        SFB_OBJDUMP_${version}="${sfb_newer_objdump_${version}}")
    endforeach()
  endforeach()
endif()
