sfb_test(live tables_only GSFRAME)
sfb_test(live strides GSFRAME SOURCES support/trace.c support/ways.c)
sfb_test(live stacks GSFRAME SOURCES support/trace.c support/ways.c)
if(SFRAME_BACKTRACE_ARCH STREQUAL "x86_64") # its code is made here
  sfb_test(live made_code GSFRAME SOURCES support/trace.c)
  sfb_test(live padding SOURCES support/trace.c) # of libraries without .sframe, as libc is
endif()

# Without shared libraries: with .sframe, with no table that can be searched, with .eh_frame_hdr.
foreach(kind sframe none eh_frame)
  if(kind STREQUAL "sframe" AND NOT SFRAME_BACKTRACE_HAVE_GSFRAME)
    sfb_skip(live static-${kind} "the assembler has no --gsframe")
    continue()
  elseif(SFRAME_BACKTRACE_SANITIZE)
    sfb_skip(live static-${kind} "there are no sanitizers for static programs")
    continue()
  endif()
  set(target test-live-static-${kind})
  add_executable(${target} live/static_program.c)
  target_include_directories(${target} PRIVATE ${PROJECT_SOURCE_DIR}/src ${CMAKE_CURRENT_SOURCE_DIR})
  target_compile_options(${target} PRIVATE -fno-omit-frame-pointer
    $<$<STREQUAL:${kind},sframe>:${sfb_gsframe_options}> $<$<STREQUAL:${kind},eh_frame>:-fPIE>)
  target_compile_definitions(${target} PRIVATE SFRAME=$<STREQUAL:${kind},sframe>
    EH_FRAME=$<STREQUAL:${kind},eh_frame>)
  target_link_libraries(${target} PRIVATE sframe-backtrace-static sfb-flags)
  # gcc does not ask for .eh_frame_hdr with -static; clang does.
  target_link_options(${target} PRIVATE $<IF:$<STREQUAL:${kind},eh_frame>,-static-pie,-static>
    $<$<NOT:$<STREQUAL:${kind},eh_frame>>:-Wl,--no-eh-frame-hdr>)
  add_test(NAME live.static-${kind} COMMAND ${target})
endforeach()

# The others compare with libunwind, linked as everybody links it, whether this library uses it or not.
pkg_check_modules(UNWIND IMPORTED_TARGET libunwind)
if(NOT UNWIND_FOUND)
  foreach(name capture front_door broken single_step modules no_leak signal_contract threads)
    sfb_skip(live ${name} "libunwind, which they compare with, is not installed")
  endforeach()
else()
  set(sfb_oracle SOURCES support/oracle.c support/trace.c LIBS PkgConfig::UNWIND)
  sfb_test(live capture GSFRAME ${sfb_oracle})
  sfb_test(live front_door GSFRAME ${sfb_oracle})
  sfb_test(live broken GSFRAME ${sfb_oracle})
  if(SFRAME_BACKTRACE_ARCH STREQUAL "x86_64") # aarch64.cmake has one for the other
    sfb_test(live single_step GSFRAME SOURCES support/ways.c ${sfb_oracle})
  endif()
  sfb_test(live modules GSFRAME ${sfb_oracle})
  if(SFRAME_BACKTRACE_LIBUNWIND)
    sfb_test(live no_leak SHARED)
  endif()
  sfb_test(live signal_contract GSFRAME)
  set(sfb_emulated 0)
  if(CMAKE_CROSSCOMPILING_EMULATOR)
    set(sfb_emulated 1)
  endif()
  if(SFRAME_BACKTRACE_HAVE_GSFRAME)
    if(TARGET test-live-single_step)
      # Lazy binding, whatever the compiler's default: its rules need registers that tables do not track.
      target_link_options(test-live-single_step PRIVATE -Wl,-z,lazy)
    endif()
    add_executable(test-live-threads live/threads.c)
    target_include_directories(test-live-threads PRIVATE ${CMAKE_CURRENT_SOURCE_DIR})
    target_link_libraries(test-live-threads PRIVATE sframe-backtrace-static sfb-flags ${CMAKE_DL_LIBS})
    target_compile_options(test-live-threads PRIVATE ${sfb_gsframe_options} -fomit-frame-pointer)
    add_test(NAME live.threads COMMAND test-live-threads)
    set_tests_properties(live.threads PROPERTIES LABELS threads TIMEOUT 300)
    target_compile_definitions(test-live-signal_contract PRIVATE SFB_EMULATED=${sfb_emulated})
    foreach(test modules threads)
      target_compile_definitions(test-live-${test} PRIVATE SFB_TEST_LIBS="${CMAKE_CURRENT_BINARY_DIR}")
    endforeach()
    foreach(frame 64 96 5000 bare last)
      add_library(frames-${frame} MODULE live/libs/frames.c)
      target_compile_options(frames-${frame} PRIVATE -O1 -fomit-frame-pointer)
      if(frame MATCHES "bare|last")
        target_compile_definitions(frames-${frame} PRIVATE FRAME=64 $<$<STREQUAL:${frame},last>:LAST>)
      else()
        target_compile_definitions(frames-${frame} PRIVATE FRAME=${frame})
        target_compile_options(frames-${frame} PRIVATE ${sfb_gsframe_options})
      endif()
      if(CMAKE_CROSSCOMPILING_EMULATOR)
        # An emulator does not map anew where something was unmapped: these ask for one address, and the
        # loader, if it is told to, asks the kernel for it.
        target_link_options(frames-${frame} PRIVATE -Wl,-Ttext-segment=0x10000000000)
      endif()
      add_dependencies(test-live-modules frames-${frame})
      add_dependencies(test-live-threads frames-${frame})
    endforeach()
    # Its .eh_frame is in another segment than .eh_frame_hdr. Small pages leave no hole between the two.
    add_library(frames-split MODULE live/libs/frames.c live/libs/writable_eh_frame.S)
    # clang's own assembler does not let a section's flags change.
    target_compile_options(frames-split PRIVATE $<$<COMPILE_LANGUAGE:C>:-O1;-fomit-frame-pointer>
      $<$<COMPILE_LANG_AND_ID:ASM,Clang>:-fno-integrated-as>)
    target_compile_definitions(frames-split PRIVATE FRAME=64)
    target_link_options(frames-split PRIVATE -Wl,-z,max-page-size=4096)
    add_dependencies(test-live-modules frames-split)
    if(CMAKE_CROSSCOMPILING_EMULATOR)
      set_property(TEST live.modules APPEND PROPERTY ENVIRONMENT LD_USE_LOAD_BIAS=1)
    endif()
  endif()
endif()

# Lua under sampling, every stack walked by this library and by libunwind or libgcc: demo/run says what
# it checks. 77: the demo was not built, for a reason that is printed.
add_test(NAME live.agreement COMMAND ${PROJECT_SOURCE_DIR}/demo/run --short ${PROJECT_BINARY_DIR})
set_tests_properties(live.agreement PROPERTIES SKIP_RETURN_CODE 77 TIMEOUT 300
  ENVIRONMENT "ASAN_OPTIONS=handle_segv=0:detect_leaks=0;UBSAN_OPTIONS=print_stacktrace=1")

# The sfb command as a user runs it.
if(TARGET sfb)
  foreach(name tool_cli tool_cbf tool_symbolize)
    sfb_tool_test(live ${name})
  endforeach()
  # It is what is symbolized, down to inlined functions and lines.
  target_compile_options(test-live-tool_symbolize PRIVATE -g)
endif()

if(SFRAME_BACKTRACE_ARCH STREQUAL "aarch64" AND SFRAME_BACKTRACE_HAVE_GSFRAME)
  include(${CMAKE_CURRENT_LIST_DIR}/aarch64.cmake)
endif()
