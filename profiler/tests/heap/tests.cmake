# The hooks of `sfb record --heap`, in programs that do what programs do.
if(NOT TARGET sfb-agent-heap)
  sfb_skip(heap hooks "a sanitized agent cannot be preloaded into a plain program")
  return()
endif()

foreach(name inner library)
  add_library(test-heap-${name} MODULE heap/library.c)
  sfb_test_options(test-heap-${name})
  set_target_properties(test-heap-${name} PROPERTIES OUTPUT_NAME heap-${name})
endforeach()
target_compile_definitions(test-heap-library PRIVATE SFB_HEAP_INNER="$<TARGET_FILE:test-heap-inner>")
add_dependencies(test-heap-library test-heap-inner)
add_library(test-heap-bump MODULE heap/lib_bump.c)
sfb_test_options(test-heap-bump)
target_compile_options(test-heap-bump PRIVATE -fno-builtin)
set_target_properties(test-heap-bump PROPERTIES OUTPUT_NAME heap-bump)

find_package(Threads REQUIRED)
add_executable(test-heap-program heap/program.c heap/program_calls.c heap/program_threads.c heap/program_processes.c)
sfb_test_options(test-heap-program)
target_compile_definitions(test-heap-program PRIVATE SFB_HEAP_LIBRARY="$<TARGET_FILE:test-heap-library>")
target_compile_options(test-heap-program PRIVATE -fno-builtin)
target_link_libraries(test-heap-program PRIVATE Threads::Threads)
set_target_properties(test-heap-program PROPERTIES OUTPUT_NAME heap-program)
add_dependencies(test-heap-program test-heap-library)

set(sfb_heap_cxx "")
if(CMAKE_CXX_COMPILER)
  add_executable(test-heap-cxx heap/program_cxx.cc)
  set_target_properties(test-heap-cxx PROPERTIES OUTPUT_NAME heap-cxx CXX_STANDARD 17 CXX_STANDARD_REQUIRED ON)
  target_compile_options(test-heap-cxx PRIVATE -O1 -fno-builtin -fsized-deallocation)
  set(sfb_heap_cxx "$<TARGET_FILE:test-heap-cxx>")

  # With functions of its own: in the program, and in a library that it needs.
  add_library(test-heap-own-library SHARED heap/program_own.cc)
  target_compile_definitions(test-heap-own-library PRIVATE OWN_NEW=1 OWN_LIBRARY=1)
  foreach(name new malloc user)
    add_executable(test-heap-own-${name} heap/program_own.cc)
    string(TOUPPER ${name} own)
    target_compile_definitions(test-heap-own-${name} PRIVATE OWN_${own}=1)
  endforeach()
  target_link_libraries(test-heap-own-user PRIVATE test-heap-own-library)
  foreach(target own-library own-new own-malloc own-user)
    set_target_properties(test-heap-${target} PROPERTIES OUTPUT_NAME heap-${target} CXX_STANDARD 17 CXX_STANDARD_REQUIRED ON)
    target_compile_options(test-heap-${target} PRIVATE -O1 -fno-builtin -fsized-deallocation) # clang before 19 asks for it
    add_dependencies(test-heap-cxx test-heap-${target})
  endforeach()
endif()

sfb_test(heap names SOURCES heap/names_bare.c LIBS ${CMAKE_DL_LIBS})
set_source_files_properties(heap/names_bare.c PROPERTIES COMPILE_OPTIONS "-O2;-fomit-frame-pointer")
# Of instructions of one size: what was learnt of an address of the one is wrong of the other.
set(sfb_heap_room_small 200)
set(sfb_heap_room_large 312)
foreach(name small large)
  add_library(test-heap-through-${name} MODULE heap/lib_through.c)
  sfb_test_options(test-heap-through-${name})
  target_compile_options(test-heap-through-${name} PRIVATE -O1)
  target_compile_definitions(test-heap-through-${name} PRIVATE ROOM=${sfb_heap_room_${name}})
  set_target_properties(test-heap-through-${name} PROPERTIES OUTPUT_NAME heap-through-${name})
  string(TOUPPER ${name} upper)
  target_compile_definitions(test-heap-names PRIVATE SFB_HEAP_THROUGH_${upper}="$<TARGET_FILE:test-heap-through-${name}>")
  add_dependencies(test-heap-names test-heap-through-${name})
endforeach()
sfb_test(heap policy SOURCES support/command.c)
target_compile_definitions(test-heap-policy PRIVATE SFB_NM="${CMAKE_NM}" SFB_READELF="${CMAKE_READELF}"
  SFB_HEAP_AGENT="$<TARGET_FILE:sfb-agent-heap>"
  SFB_HEAP_OBJECTS="${PROJECT_BINARY_DIR}/profiler/agent/heap/CMakeFiles/sfb-agent-heap.dir")
add_dependencies(test-heap-policy sfb-agent-heap)

# In an emulator exec starts programs of the machine that it runs on, and a second has many instructions less.
set(sfb_heap_tests calls life limits sampled)
if(CMAKE_CROSSCOMPILING_EMULATOR)
  set(sfb_heap_emulated SFB_EMULATED)
  set(sfb_heap_tests calls sampled)
  sfb_skip(heap life "its programs execute others, which the emulator hands to the kernel as they are")
  sfb_skip(heap limits "the emulator is slower than a recorder that is slow")
endif()
foreach(name ${sfb_heap_tests})
  sfb_test(heap ${name} SOURCES heap/drainer.c heap/replay.c LIBS sfb-collector)
  target_compile_definitions(test-heap-${name} PRIVATE
    SFB_HEAP_AGENT="$<TARGET_FILE:sfb-agent-heap>" SFB_HEAP_PROGRAM="$<TARGET_FILE:test-heap-program>"
    SFB_HEAP_CXX="${sfb_heap_cxx}" SFB_HEAP_OWN="${sfb_tests_out}/heap-own" SFB_HEAP_BUMP="$<TARGET_FILE:test-heap-bump>"
    SFB_HEAP_LIBRARY="$<TARGET_FILE:test-heap-library>"
    SFB_HEAP_JEMALLOC="/usr/lib/${CMAKE_LIBRARY_ARCHITECTURE}/libjemalloc.so.2"
    SFB_HEAP_TCMALLOC="/usr/lib/${CMAKE_LIBRARY_ARCHITECTURE}/libtcmalloc_minimal.so.4"
    SFB_HEAP_MIMALLOC="/usr/lib/${CMAKE_LIBRARY_ARCHITECTURE}/libmimalloc.so.2.0" ${sfb_heap_emulated})
  target_link_libraries(test-heap-${name} PRIVATE m)
  add_dependencies(test-heap-${name} sfb-agent-heap test-heap-program test-heap-bump test-heap-library)
  if(CMAKE_CXX_COMPILER)
    add_dependencies(test-heap-${name} test-heap-cxx)
  endif()
endforeach()
