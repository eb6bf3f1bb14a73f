# What a library that asks the loaded oracles is made of: loaded.h.
set(sfb_loaded_oracles loaded.c loaded_libunwind.c loaded_libgcc.c stack.c stubs.c
  machine_${SFRAME_BACKTRACE_ARCH}.c)
list(TRANSFORM sfb_loaded_oracles PREPEND ${CMAKE_CURRENT_LIST_DIR}/)
