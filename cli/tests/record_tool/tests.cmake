# The command, as a user meets it.
if(NOT TARGET sfb-agent-cpu OR NOT TARGET sfb-collector OR NOT TARGET sfb)
  sfb_skip(record_tool cli "no agent can be preloaded in this build")
  return()
endif()
if(CMAKE_CROSSCOMPILING_EMULATOR)
  # It keeps LD_PRELOAD for itself, and has neither perf nor /proc of its own.
  sfb_skip(record_tool cli "the emulator cannot preload an agent into what it runs")
  return()
endif()

find_package(Threads REQUIRED)
foreach(name program denied calls_program limits_program count_calls)
  add_executable(test-record_tool-${name} record_tool/${name}.c)
  sfb_test_options(test-record_tool-${name})
  target_include_directories(test-record_tool-${name} PRIVATE ${PROJECT_SOURCE_DIR}/include)
  set_target_properties(test-record_tool-${name} PROPERTIES OUTPUT_NAME record-tool-${name})
endforeach()
target_link_libraries(test-record_tool-program PRIVATE Threads::Threads)
target_link_libraries(test-record_tool-limits_program PRIVATE Threads::Threads)
target_link_libraries(test-record_tool-calls_program PRIVATE Threads::Threads ${CMAKE_DL_LIBS})
add_executable(test-record_tool-gprof record_tool/program.c)
sfb_test_options(test-record_tool-gprof)
target_include_directories(test-record_tool-gprof PRIVATE ${PROJECT_SOURCE_DIR}/include)
target_compile_options(test-record_tool-gprof PRIVATE -pg)
target_link_options(test-record_tool-gprof PRIVATE -pg)
target_link_libraries(test-record_tool-gprof PRIVATE Threads::Threads)
add_executable(test-record_tool-static record_tool/static_program.c)
target_link_libraries(test-record_tool-static PRIVATE sfb-flags)
target_link_options(test-record_tool-static PRIVATE -static)

# A program of another C library, where its compiler is.
# Processes that run already: dynamic, and static, where there is no agent for them.
foreach(kind "" -static)
  set(target test-record_tool-attach_program${kind})
  add_executable(${target} record_tool/attach_program.c)
  target_compile_options(${target} PRIVATE -O2)
  target_link_options(${target} PRIVATE ${kind})
  target_link_libraries(${target} PRIVATE sfb-flags Threads::Threads)
  if(SFRAME_BACKTRACE_SANITIZE)
    sfb_skip(record_tool attach${kind} "it takes a build without sanitizers")
  else()
    sfb_add_test(record_tool.attach${kind} COMMAND ${CMAKE_CURRENT_SOURCE_DIR}/record_tool/attach
      $<TARGET_FILE:sfb> $<TARGET_FILE:${target}>)
    sfb_add_test(record_tool.attach${kind}_looks COMMAND ${CMAKE_CURRENT_SOURCE_DIR}/record_tool/attach
      $<TARGET_FILE:sfb> $<TARGET_FILE:${target}> --engine looks)
  endif()
endforeach()

# States of 1 and of 64 threads.
add_executable(test-record_tool-states_program record_tool/states_program.c)
target_compile_options(test-record_tool-states_program PRIVATE -O2)
target_link_libraries(test-record_tool-states_program PRIVATE sfb-flags Threads::Threads)
foreach(threads 1 64)
  if(SFRAME_BACKTRACE_SANITIZE)
    sfb_skip(record_tool states_${threads} "it takes a build without sanitizers")
  else()
    sfb_add_test(record_tool.states_${threads} COMMAND ${CMAKE_CURRENT_SOURCE_DIR}/record_tool/states $<TARGET_FILE:sfb>
      $<TARGET_FILE:test-record_tool-states_program> ${threads})
    sfb_add_test(record_tool.states_${threads}_looks COMMAND ${CMAKE_CURRENT_SOURCE_DIR}/record_tool/states $<TARGET_FILE:sfb>
      $<TARGET_FILE:test-record_tool-states_program> ${threads} --engine looks)
  endif()
endforeach()

# Waits, by looks.
foreach(kind waits disk)
  add_executable(test-record_tool-${kind}_program record_tool/${kind}_program.c)
  target_compile_options(test-record_tool-${kind}_program PRIVATE -O2)
  target_link_libraries(test-record_tool-${kind}_program PRIVATE sfb-flags Threads::Threads)
  if(SFRAME_BACKTRACE_SANITIZE)
    sfb_skip(record_tool ${kind} "it takes a build without sanitizers")
  else()
    sfb_add_test(record_tool.${kind} COMMAND ${CMAKE_CURRENT_SOURCE_DIR}/record_tool/${kind} $<TARGET_FILE:sfb>
      $<TARGET_FILE:test-record_tool-${kind}_program>)
    sfb_add_test(record_tool.${kind}_looks COMMAND ${CMAKE_CURRENT_SOURCE_DIR}/record_tool/${kind} $<TARGET_FILE:sfb>
      $<TARGET_FILE:test-record_tool-${kind}_program> --engine looks)
  endif()
endforeach()

# Which thread woke which one up.
add_executable(test-record_tool-wakers_program record_tool/wakers_program.c)
target_compile_options(test-record_tool-wakers_program PRIVATE -O2)
target_link_libraries(test-record_tool-wakers_program PRIVATE sfb-flags Threads::Threads)
add_executable(test-record_tool-wakers_sum record_tool/wakers_sum.c)
target_link_libraries(test-record_tool-wakers_sum PRIVATE sfb-recording-zstd sframe-backtrace-static)
if(SFRAME_BACKTRACE_SANITIZE)
  sfb_skip(record_tool wakers "it takes a build without sanitizers")
  sfb_skip(record_tool wakers_starved "it takes a build without sanitizers")
else()
  sfb_add_test(record_tool.wakers COMMAND ${CMAKE_CURRENT_SOURCE_DIR}/record_tool/wakers $<TARGET_FILE:sfb>
    $<TARGET_FILE:test-record_tool-wakers_program> $<TARGET_FILE:test-record_tool-wakers_sum>)
  sfb_add_test(record_tool.wakers_starved COMMAND ${CMAKE_CURRENT_SOURCE_DIR}/record_tool/wakers_starved $<TARGET_FILE:sfb>)
endif()

# What a recorder from outside may lose.
foreach(name after_exec other_tool)
  add_executable(test-record_tool-outside_${name} record_tool/outside_program.c)
  target_compile_options(test-record_tool-outside_${name} PRIVATE -O2)
  target_compile_definitions(test-record_tool-outside_${name} PRIVATE AFTER=${name} _GNU_SOURCE)
  target_link_options(test-record_tool-outside_${name} PRIVATE -Wl,--build-id=sha1)
  target_link_libraries(test-record_tool-outside_${name} PRIVATE sfb-flags Threads::Threads)
endforeach()
if(SFRAME_BACKTRACE_SANITIZE)
  sfb_skip(record_tool outside_cases "it takes a build without sanitizers")
else()
  sfb_add_test(record_tool.outside_pids COMMAND ${CMAKE_CURRENT_SOURCE_DIR}/record_tool/outside_pids $<TARGET_FILE:sfb>
    $<TARGET_FILE:test-record_tool-outside_after_exec> $<TARGET_FILE:test-record_tool-outside_other_tool>)
  sfb_add_test(record_tool.outside_user COMMAND ${CMAKE_CURRENT_SOURCE_DIR}/record_tool/outside_user $<TARGET_FILE:sfb>
    $<TARGET_FILE:test-record_tool-outside_after_exec>)
  foreach(engine "" looks)
    set(sfb_record_cases ${CMAKE_CURRENT_SOURCE_DIR}/record_tool/outside_cases $<TARGET_FILE:sfb>
      $<TARGET_FILE:test-record_tool-outside_after_exec> $<TARGET_FILE:test-record_tool-outside_other_tool>)
    if(engine)
      sfb_add_test(record_tool.outside_cases_${engine} COMMAND ${sfb_record_cases} --engine ${engine})
    else()
      sfb_add_test(record_tool.outside_cases COMMAND ${sfb_record_cases})
    endif()
  endforeach()
endif()

# Both ways in one recording.
foreach(kind "" -static)
  add_executable(test-record_tool-alongside${kind} record_tool/alongside_program.c)
  target_compile_options(test-record_tool-alongside${kind} PRIVATE -O2)
  target_link_options(test-record_tool-alongside${kind} PRIVATE ${kind})
  target_link_libraries(test-record_tool-alongside${kind} PRIVATE sfb-flags)
endforeach()
find_program(SFB_MUSL_GCC musl-gcc)
set(sfb_alongside_musl "")
if(SFB_MUSL_GCC)
  set(sfb_alongside_musl ${sfb_tests_out}/record-tool-alongside-musl)
  add_custom_command(OUTPUT ${sfb_alongside_musl} DEPENDS record_tool/alongside_program.c VERBATIM
    COMMAND ${SFB_MUSL_GCC} -O2 ${CMAKE_CURRENT_SOURCE_DIR}/record_tool/alongside_program.c -o ${sfb_alongside_musl})
  add_custom_target(test-record_tool-alongside_musl ALL DEPENDS ${sfb_alongside_musl})
endif()
if(SFRAME_BACKTRACE_SANITIZE)
  sfb_skip(record_tool alongside "it takes a build without sanitizers")
else()
  sfb_add_test(record_tool.alongside COMMAND ${CMAKE_CURRENT_SOURCE_DIR}/record_tool/alongside $<TARGET_FILE:sfb>
    $<TARGET_FILE_DIR:sfb-agent-cpu> $<TARGET_FILE:test-record_tool-alongside> $<TARGET_FILE:test-record_tool-alongside-static>
    ${sfb_alongside_musl})
endif()

# Deep in one thread alone.
foreach(kind "" -static)
  add_executable(test-record_tool-depth_program${kind} record_tool/depth_program.c)
  target_compile_options(test-record_tool-depth_program${kind} PRIVATE -O2)
  target_link_options(test-record_tool-depth_program${kind} PRIVATE ${kind})
  target_link_libraries(test-record_tool-depth_program${kind} PRIVATE sfb-flags Threads::Threads)
endforeach()
if(SFRAME_BACKTRACE_SANITIZE)
  sfb_skip(record_tool depth "it takes a build without sanitizers")
else()
  sfb_add_test(record_tool.depth COMMAND ${CMAKE_CURRENT_SOURCE_DIR}/record_tool/depth $<TARGET_FILE:sfb>
    $<TARGET_FILE_DIR:sfb-agent-cpu> $<TARGET_FILE:test-record_tool-depth_program>
    $<TARGET_FILE:test-record_tool-depth_program-static>)
endif()

if(NOT SFRAME_BACKTRACE_SANITIZE)
  sfb_add_test(record_tool.attach_programs COMMAND ${CMAKE_CURRENT_SOURCE_DIR}/record_tool/attach_programs $<TARGET_FILE:sfb>)
endif()

find_program(SFB_MUSL_GCC musl-gcc)
set(sfb_record_musl "")
if(SFB_MUSL_GCC)
  set(sfb_record_musl ${sfb_tests_out}/record-tool-musl)
  add_custom_command(OUTPUT ${sfb_record_musl} DEPENDS record_tool/musl_program.c VERBATIM
    COMMAND ${SFB_MUSL_GCC} -O2 ${CMAKE_CURRENT_SOURCE_DIR}/record_tool/musl_program.c -o ${sfb_record_musl})
  add_custom_target(test-record_tool-musl DEPENDS ${sfb_record_musl})
endif()

foreach(name cli habits life rights limits identity engines proportion unrecorded)
  sfb_tool_test(record_tool ${name} support/command.c record_tool/contents.c record_tool/recorded.c
    LIBS sfb-collector sfb-recording-zstd m)
  target_compile_definitions(test-record_tool-${name} PRIVATE
    SFB_RECORD_PROGRAM="$<TARGET_FILE:test-record_tool-program>"
    SFB_RECORD_STATIC="$<TARGET_FILE:test-record_tool-static>" SFB_RECORD_MUSL="${sfb_record_musl}"
    SFB_RECORD_CALLS="$<TARGET_FILE:test-record_tool-calls_program>"
    SFB_RECORD_GPROF="$<TARGET_FILE:test-record_tool-gprof>"
    SFB_RECORD_LIMITS="$<TARGET_FILE:test-record_tool-limits_program>"
    SFB_RECORD_DENIED="$<TARGET_FILE:test-record_tool-denied>"
    SFB_RECORD_AGENT="$<TARGET_FILE:sfb-agent-cpu>")
  add_dependencies(test-record_tool-${name} sfb-agent-cpu test-record_tool-limits_program test-record_tool-program
    test-record_tool-static test-record_tool-gprof test-record_tool-denied
    test-record_tool-calls_program)
endforeach()
if(SFB_MUSL_GCC)
  add_dependencies(test-record_tool-limits test-record_tool-musl)
endif()

# What it costs.
sfb_tool_test(record_tool cost support/command.c)
target_compile_definitions(test-record_tool-cost PRIVATE
  SFB_RECORD_CALLS="$<TARGET_FILE:test-record_tool-calls_program>"
  SFB_RECORD_PROGRAM="$<TARGET_FILE:test-record_tool-program>"
  SFB_RECORD_COUNT_CALLS="$<TARGET_FILE:test-record_tool-count_calls>"
  SFB_RECORD_AGENT="$<TARGET_FILE:sfb-agent-cpu>")
add_dependencies(test-record_tool-cost sfb-agent-cpu test-record_tool-program test-record_tool-count_calls
  test-record_tool-calls_program)

# Which processes are a loss.
sfb_test(record_tool untracked SOURCES support/folder.c support/run.c
  LIBS sfb-collector sfb-recording-zstd Threads::Threads)
target_compile_definitions(test-record_tool-untracked PRIVATE
  SFB_RECORD_PROGRAM="$<TARGET_FILE:test-record_tool-program>"
  SFB_RECORD_STATIC="$<TARGET_FILE:test-record_tool-static>")
add_dependencies(test-record_tool-untracked test-record_tool-program test-record_tool-static)

# What it shows on a terminal, and whose Ctrl-C is.
add_executable(test-record_tool-terminal_program record_tool/terminal_program.c)
sfb_test_options(test-record_tool-terminal_program)
sfb_tool_test(record_tool terminal record_tool/contents.c record_tool/recorded.c
  LIBS sfb-collector sfb-recording-zstd util)
target_compile_definitions(test-record_tool-terminal PRIVATE
  SFB_RECORD_PROGRAM="$<TARGET_FILE:test-record_tool-program>"
  SFB_RECORD_TERMINAL="$<TARGET_FILE:test-record_tool-terminal_program>")
add_dependencies(test-record_tool-terminal sfb-agent-cpu test-record_tool-program
  test-record_tool-terminal_program)

if(NOT TARGET sfb-agent-heap)
  sfb_skip(record_tool heap "no agent of the heap in this build")
  return()
endif()
add_executable(test-record_tool-heap_program record_tool/heap_program.c)
sfb_test_options(test-record_tool-heap_program)
target_include_directories(test-record_tool-heap_program PRIVATE ${PROJECT_SOURCE_DIR}/include)
target_compile_options(test-record_tool-heap_program PRIVATE -fno-builtin)
target_link_libraries(test-record_tool-heap_program PRIVATE Threads::Threads)
add_executable(test-record_tool-hostile_program record_tool/hostile_program.c)
sfb_test_options(test-record_tool-hostile_program)
target_include_directories(test-record_tool-hostile_program PRIVATE ${PROJECT_SOURCE_DIR}/src ${PROJECT_SOURCE_DIR}/include)
sfb_tool_test(record_tool hostile support/command.c record_tool/contents.c record_tool/recorded.c
  LIBS sfb-collector sfb-recording-zstd)
target_compile_definitions(test-record_tool-hostile PRIVATE
  SFB_RECORD_PROGRAM="$<TARGET_FILE:test-record_tool-program>"
  SFB_RECORD_AGENT="$<TARGET_FILE:sfb-agent-cpu>"
  SFB_RECORD_HOSTILE="$<TARGET_FILE:test-record_tool-hostile_program>")
add_dependencies(test-record_tool-hostile sfb-agent-cpu sfb-agent-heap test-record_tool-program
  test-record_tool-hostile_program)
sfb_tool_test(record_tool heap support/command.c LIBS sfb-collector sfb-recording-zstd)
target_compile_definitions(test-record_tool-heap PRIVATE
  SFB_RECORD_HEAP="$<TARGET_FILE:test-record_tool-heap_program>")
add_dependencies(test-record_tool-heap sfb-agent-heap test-record_tool-heap_program)

# An interpreter that a program opens: no Python is needed.
add_library(test-record_tool-opened_library SHARED ${PROJECT_SOURCE_DIR}/tests/support/fake_cpython.c)
set_target_properties(test-record_tool-opened_library PROPERTIES OUTPUT_NAME python-opened C_VISIBILITY_PRESET default)
add_executable(test-record_tool-opened_program record_tool/opened_program.c)
foreach(part library program)
  sfb_test_options(test-record_tool-opened_${part})
  target_include_directories(test-record_tool-opened_${part} PRIVATE ${PROJECT_SOURCE_DIR}/tests)
endforeach()
target_link_libraries(test-record_tool-opened_program PRIVATE ${CMAKE_DL_LIBS})
sfb_add_test(record_tool.opened COMMAND ${CMAKE_CURRENT_SOURCE_DIR}/record_tool/opened $<TARGET_FILE:sfb>
  $<TARGET_FILE:test-record_tool-opened_program> $<TARGET_FILE:test-record_tool-opened_library>)

# Functions of Python, beside what the program knows of itself.
if(NOT SFB_PYTHON)
  sfb_skip(record_tool python "no CPython 3.11 to 3.14 in /usr/bin")
  sfb_skip(record_tool python_looks "no CPython 3.11 to 3.14 in /usr/bin")
  sfb_skip(record_tool python_waits "no CPython 3.11 to 3.14 in /usr/bin")
  sfb_skip(record_tool python_wakers "no CPython 3.11 to 3.14 in /usr/bin")
  sfb_skip(record_tool python_gil "no CPython 3.11 to 3.14 in /usr/bin")
  sfb_skip(record_tool python_gil_looks "no CPython 3.11 to 3.14 in /usr/bin")
  sfb_skip(record_tool python_gil_wall "no CPython 3.11 to 3.14 in /usr/bin")
  sfb_skip(record_tool python_gil_stack "no CPython 3.11 to 3.14 in /usr/bin")
  foreach(test python_async python_async_looks python_async_stack)
    sfb_skip(record_tool ${test} "no CPython 3.11 to 3.14 in /usr/bin")
  endforeach()
  sfb_skip(record_tool python_events "no CPython 3.11 to 3.14 in /usr/bin")
  sfb_skip(record_tool python_interpreters "no CPython 3.11 to 3.14 in /usr/bin")
  sfb_skip(record_tool python_heap "no CPython 3.11 to 3.14 in /usr/bin")
  sfb_skip(record_tool python_stack "no CPython 3.11 to 3.14 in /usr/bin")
else()
  sfb_add_test(record_tool.python COST 20 COMMAND ${SFB_PYTHON} ${CMAKE_CURRENT_SOURCE_DIR}/record_tool/python.py $<TARGET_FILE:sfb>)
  sfb_add_test(record_tool.python_looks COST 20 COMMAND ${SFB_PYTHON} ${CMAKE_CURRENT_SOURCE_DIR}/record_tool/python.py
    --looks $<TARGET_FILE:sfb>)
  sfb_add_test(record_tool.python_waits COMMAND ${SFB_PYTHON} ${CMAKE_CURRENT_SOURCE_DIR}/record_tool/python.py
    --waits $<TARGET_FILE:sfb>)
  sfb_add_test(record_tool.python_wakers COMMAND ${SFB_PYTHON} ${CMAKE_CURRENT_SOURCE_DIR}/record_tool/python_wakers.py $<TARGET_FILE:sfb>)
  sfb_add_test(record_tool.python_gil COST 20
    COMMAND ${SFB_PYTHON} ${CMAKE_CURRENT_SOURCE_DIR}/record_tool/python_gil.py $<TARGET_FILE:sfb>)
  foreach(mode looks wall stack)
    sfb_add_test(record_tool.python_gil_${mode} COST 20
      COMMAND ${SFB_PYTHON} ${CMAKE_CURRENT_SOURCE_DIR}/record_tool/python_gil.py --${mode} $<TARGET_FILE:sfb>)
  endforeach()
  sfb_add_test(record_tool.python_async COST 20
    COMMAND ${SFB_PYTHON} ${CMAKE_CURRENT_SOURCE_DIR}/record_tool/python_async.py $<TARGET_FILE:sfb>)
  foreach(mode looks stack)
    sfb_add_test(record_tool.python_async_${mode} COST 20
      COMMAND ${SFB_PYTHON} ${CMAKE_CURRENT_SOURCE_DIR}/record_tool/python_async.py --${mode} $<TARGET_FILE:sfb>)
  endforeach()
  sfb_add_test(record_tool.python_events COMMAND ${SFB_PYTHON} ${CMAKE_CURRENT_SOURCE_DIR}/record_tool/python.py
    --events $<TARGET_FILE:sfb>)
  sfb_add_test(record_tool.python_heap COMMAND ${SFB_PYTHON} ${CMAKE_CURRENT_SOURCE_DIR}/record_tool/python_heap.py $<TARGET_FILE:sfb>)
  sfb_add_test(record_tool.python_interpreters
    COMMAND ${SFB_PYTHON} ${CMAKE_CURRENT_SOURCE_DIR}/record_tool/python_interpreters.py $<TARGET_FILE:sfb>)
  sfb_add_test(record_tool.python_stack COMMAND ${SFB_PYTHON} ${CMAKE_CURRENT_SOURCE_DIR}/record_tool/python_stack.py $<TARGET_FILE:sfb>)
  foreach(mode objects sampled forked)
    sfb_add_test(record_tool.python_heap_${mode}
      COMMAND ${SFB_PYTHON} ${CMAKE_CURRENT_SOURCE_DIR}/record_tool/python_heap.py --${mode} $<TARGET_FILE:sfb>)
  endforeach()
  foreach(python ${SFB_PYTHONS})
    get_filename_component(name ${python} NAME)
    sfb_add_test(record_tool.python_heap-${name}
      COMMAND ${python} ${CMAKE_CURRENT_SOURCE_DIR}/record_tool/python_heap.py $<TARGET_FILE:sfb>)
    sfb_add_test(record_tool.python_objects-${name}
      COMMAND ${python} ${CMAKE_CURRENT_SOURCE_DIR}/record_tool/python_heap.py --objects $<TARGET_FILE:sfb>)
    sfb_add_test(record_tool.python_async-${name} COST 20
      COMMAND ${python} ${CMAKE_CURRENT_SOURCE_DIR}/record_tool/python_async.py $<TARGET_FILE:sfb>)
    sfb_add_test(record_tool.python_gil-${name} COST 20
      COMMAND ${python} ${CMAKE_CURRENT_SOURCE_DIR}/record_tool/python_gil.py $<TARGET_FILE:sfb>)
    sfb_add_test(record_tool.python-${name} COST 20
      COMMAND ${python} ${CMAKE_CURRENT_SOURCE_DIR}/record_tool/python.py $<TARGET_FILE:sfb>)
  endforeach()
endif()

# One recording after another, and a receiver of their uploads.
add_executable(test-record_tool-receiver record_tool/receiver.c)
target_link_libraries(test-record_tool-receiver PRIVATE sfb-flags)
sfb_tool_test(record_tool continuous)
target_compile_definitions(test-record_tool-continuous PRIVATE SFB_RECEIVER="$<TARGET_FILE:test-record_tool-receiver>")
add_dependencies(test-record_tool-continuous test-record_tool-receiver)

# Locks: which ones threads wait for, and which thread has them, beside the program's own log.
add_executable(test-record_tool-locks_program record_tool/locks_program.c)
target_compile_options(test-record_tool-locks_program PRIVATE -O2 -g)
target_link_libraries(test-record_tool-locks_program PRIVATE sfb-flags Threads::Threads)
if(SFRAME_BACKTRACE_SANITIZE)
  sfb_skip(record_tool locks "it takes a build without sanitizers")
else()
  sfb_add_test(record_tool.locks COMMAND ${CMAKE_CURRENT_SOURCE_DIR}/record_tool/locks $<TARGET_FILE:sfb>
    $<TARGET_FILE:test-record_tool-locks_program>)
  sfb_add_test(record_tool.locks_looks COMMAND ${CMAKE_CURRENT_SOURCE_DIR}/record_tool/locks $<TARGET_FILE:sfb>
    $<TARGET_FILE:test-record_tool-locks_program> --engine looks)
endif()

# The same beside a count in the program.
add_library(test-record_tool-lock_counter MODULE record_tool/lock_counter.c)
target_compile_options(test-record_tool-lock_counter PRIVATE -O2)
target_link_libraries(test-record_tool-lock_counter PRIVATE sfb-flags Threads::Threads ${CMAKE_DL_LIBS})
add_executable(test-record_tool-slow_lock ${PROJECT_SOURCE_DIR}/examples/slow_lock.c)
target_compile_options(test-record_tool-slow_lock PRIVATE -O2 -g)
target_link_libraries(test-record_tool-slow_lock PRIVATE sfb-flags Threads::Threads)
set(sfb_counted_slow_lock $<TARGET_FILE:test-record_tool-slow_lock>)
set(sfb_counted_known $<TARGET_FILE:test-record_tool-locks_program>)
foreach(kind slow_lock known)
  if(SFRAME_BACKTRACE_SANITIZE)
    sfb_skip(record_tool locks_counted_${kind} "it takes a build without sanitizers")
  else()
    sfb_add_test(record_tool.locks_counted_${kind} COMMAND ${CMAKE_CURRENT_SOURCE_DIR}/record_tool/locks_counted
      $<TARGET_FILE:sfb> $<TARGET_FILE:test-record_tool-lock_counter> ${kind} ${sfb_counted_${kind}})
  endif()
endforeach()
if(NOT SFRAME_BACKTRACE_SANITIZE)
  sfb_add_test(record_tool.locks_counted_looks COMMAND ${CMAKE_CURRENT_SOURCE_DIR}/record_tool/locks_counted
    $<TARGET_FILE:sfb> $<TARGET_FILE:test-record_tool-lock_counter> known ${sfb_counted_known} --engine looks)
endif()

# A wait in a library that was mapped just before.
add_library(test-record_tool-mapped_library SHARED record_tool/mapped_library.c)
add_executable(test-record_tool-mapped_program record_tool/mapped_program.c)
foreach(part library program)
  target_compile_options(test-record_tool-mapped_${part} PRIVATE -O2 -g)
  target_link_libraries(test-record_tool-mapped_${part} PRIVATE sfb-flags ${CMAKE_DL_LIBS})
endforeach()
if(SFRAME_BACKTRACE_SANITIZE)
  sfb_skip(record_tool mapped "it takes a build without sanitizers")
else()
  foreach(way exactly looks)
    set(options_exactly)
    set(options_looks --engine looks)
    sfb_add_test(record_tool.mapped_${way} COMMAND ${CMAKE_CURRENT_SOURCE_DIR}/record_tool/mapped $<TARGET_FILE:sfb>
      $<TARGET_FILE:test-record_tool-mapped_program> $<TARGET_FILE:test-record_tool-mapped_library> ${options_${way}})
  endforeach()
endif()

# sfb ctl, of recordings that run.
sfb_add_test(record_tool.marks COMMAND ${CMAKE_CURRENT_SOURCE_DIR}/record_tool/marks $<TARGET_FILE:sfb>)

# Pauses of a recording, against the log of a program in phases.
add_executable(test-record_tool-phased record_tool/phased.c)
target_include_directories(test-record_tool-phased PRIVATE ${PROJECT_SOURCE_DIR}/include)
target_compile_options(test-record_tool-phased PRIVATE -fPIE)
target_link_options(test-record_tool-phased PRIVATE -pie)
target_link_libraries(test-record_tool-phased PRIVATE sfb-flags Threads::Threads)
if(SFRAME_BACKTRACE_SANITIZE)
  sfb_skip(record_tool pauses "it takes a build without sanitizers")
else()
  foreach(way cpu wall heap)
    set(options_cpu)
    set(options_wall --wall)
    set(options_heap --heap)
    sfb_add_test(record_tool.pauses_${way} COMMAND ${CMAKE_CURRENT_SOURCE_DIR}/record_tool/pauses $<TARGET_FILE:sfb>
      $<TARGET_FILE:test-record_tool-phased> ${way} ${options_${way}})
  endforeach()
  sfb_add_test(record_tool.pauses_lost COMMAND ${CMAKE_CURRENT_SOURCE_DIR}/record_tool/lost_before_pause $<TARGET_FILE:sfb>)
  add_executable(test-record_tool-phased_static record_tool/phased.c)
  target_include_directories(test-record_tool-phased_static PRIVATE ${PROJECT_SOURCE_DIR}/include)
  target_link_libraries(test-record_tool-phased_static PRIVATE sfb-flags Threads::Threads)
  target_link_options(test-record_tool-phased_static PRIVATE -static)
  sfb_add_test(record_tool.pauses_static COMMAND ${CMAKE_CURRENT_SOURCE_DIR}/record_tool/pauses $<TARGET_FILE:sfb>
    $<TARGET_FILE:test-record_tool-phased_static> static)
  add_executable(test-record_tool-phased_linked record_tool/phased.c)
  target_compile_definitions(test-record_tool-phased_linked PRIVATE LINKED)
  target_include_directories(test-record_tool-phased_linked PRIVATE ${PROJECT_SOURCE_DIR}/include)
  target_link_libraries(test-record_tool-phased_linked PRIVATE sfb-flags Threads::Threads sfb-agent-cpu)
  sfb_add_test(record_tool.pauses_linked COMMAND ${CMAKE_CURRENT_SOURCE_DIR}/record_tool/pauses $<TARGET_FILE:sfb>
    $<TARGET_FILE:test-record_tool-phased_linked> linked)
endif()

# Waits of a thread that computes in between.
add_executable(test-record_tool-stamps_program record_tool/stamps_program.c)
target_link_libraries(test-record_tool-stamps_program PRIVATE sfb-flags)
add_executable(test-record_tool-stamps_sum record_tool/stamps_sum.c)
target_link_libraries(test-record_tool-stamps_sum PRIVATE sfb-recording-zstd sframe-backtrace-static)
if(SFRAME_BACKTRACE_SANITIZE)
  sfb_skip(record_tool stamps "it takes a build without sanitizers")
else()
  sfb_add_test(record_tool.stamps COMMAND ${CMAKE_CURRENT_SOURCE_DIR}/record_tool/stamps $<TARGET_FILE:sfb>
    $<TARGET_FILE:test-record_tool-stamps_program> $<TARGET_FILE:test-record_tool-stamps_sum>)
  sfb_add_test(record_tool.stamps_looks COMMAND ${CMAKE_CURRENT_SOURCE_DIR}/record_tool/stamps $<TARGET_FILE:sfb>
    $<TARGET_FILE:test-record_tool-stamps_program> $<TARGET_FILE:test-record_tool-stamps_sum> --engine looks)
endif()

# By records of switches alone: what an ordinary user has, and no test that runs as root.
if(SFRAME_BACKTRACE_SANITIZE)
  sfb_skip(record_tool by_user "it takes a build without sanitizers")
else()
  set(sfb_by_user ${CMAKE_CURRENT_SOURCE_DIR}/record_tool/by_user)
  sfb_add_test(record_tool.states_4_user COMMAND ${sfb_by_user} 64041 states $<TARGET_FILE:sfb>
    $<TARGET_FILE:test-record_tool-states_program> 4)
  sfb_add_test(record_tool.waits_user COMMAND ${sfb_by_user} 64042 waits $<TARGET_FILE:sfb>
    $<TARGET_FILE:test-record_tool-waits_program>)
  sfb_add_test(record_tool.stamps_user COMMAND ${sfb_by_user} 64043 stamps $<TARGET_FILE:sfb>
    $<TARGET_FILE:test-record_tool-stamps_program> $<TARGET_FILE:test-record_tool-stamps_sum>)
endif()

# Threads in the place of threads.
add_executable(test-record_tool-turned_program record_tool/turned_program.c)
target_compile_options(test-record_tool-turned_program PRIVATE -O2)
target_link_libraries(test-record_tool-turned_program PRIVATE sfb-flags Threads::Threads)
if(SFRAME_BACKTRACE_SANITIZE)
  sfb_skip(record_tool turned "it takes a build without sanitizers")
else()
  sfb_add_test(record_tool.turned COMMAND ${CMAKE_CURRENT_SOURCE_DIR}/record_tool/turned $<TARGET_FILE:sfb>
    $<TARGET_FILE:test-record_tool-turned_program>)
  sfb_add_test(record_tool.turned_looks COMMAND ${CMAKE_CURRENT_SOURCE_DIR}/record_tool/turned $<TARGET_FILE:sfb>
    $<TARGET_FILE:test-record_tool-turned_program> --engine looks)
endif()

# A sleep that goes on after a stop.
if(SFRAME_BACKTRACE_SANITIZE)
  sfb_skip(record_tool restarted "it takes a build without sanitizers")
else()
  sfb_add_test(record_tool.restarted COMMAND ${CMAKE_CURRENT_SOURCE_DIR}/record_tool/restarted $<TARGET_FILE:sfb>)
endif()

# What comes and goes between two lists of processes, and between two looks.
if(SFRAME_BACKTRACE_SANITIZE)
  sfb_skip(record_tool children "it takes a build without sanitizers")
  sfb_skip(record_tool unseen "it takes a build without sanitizers")
else()
  foreach(where here nested own far hidden bare)
    sfb_add_test(record_tool.children_${where} COMMAND ${CMAKE_CURRENT_SOURCE_DIR}/record_tool/children $<TARGET_FILE:sfb> ${where})
  endforeach()
  sfb_add_test(record_tool.unseen COMMAND ${CMAKE_CURRENT_SOURCE_DIR}/record_tool/unseen $<TARGET_FILE:sfb>)
endif()
