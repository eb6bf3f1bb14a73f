# sfb synth: what its tests run besides it. live.tool_synth is the short test; `run` here is the long one.
if(TARGET sfb)
  add_executable(test-synth-rows synth/rows.c)
  target_link_libraries(test-synth-rows PRIVATE sframe-backtrace-static sfb-flags
    PkgConfig::LIBELF PkgConfig::LIBDW)
  add_executable(test-synth-walk synth/walk.c)
  target_link_libraries(test-synth-walk PRIVATE sframe-backtrace-static sfb-flags ${CMAKE_DL_LIBS})

  sfb_tool_test(live tool_synth)
  add_dependencies(test-live-tool_synth test-synth-rows test-synth-walk)
  set(odd "")
  if(SFRAME_BACKTRACE_ARCH STREQUAL "x86_64")
    add_library(synth-odd MODULE live/libs/odd_cfi.S)
    set_target_properties(synth-odd PROPERTIES LINKER_LANGUAGE C)
    add_dependencies(test-live-tool_synth synth-odd)
    set(odd $<TARGET_FILE:synth-odd>)
  endif()
  set(walk $<TARGET_FILE:test-synth-walk>)
  if(SFRAME_BACKTRACE_SANITIZE)
    set(walk "")
  endif()
  target_compile_definitions(test-live-tool_synth PRIVATE SFB_EMULATE="${sfb_emulate}"
    SFB_ROWS="$<TARGET_FILE:test-synth-rows>" SFB_WALK="${walk}" SFB_ODD_LIBRARY="${odd}")
endif()
