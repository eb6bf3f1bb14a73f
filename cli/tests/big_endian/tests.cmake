# A big-endian AArch64 program that walks its own stack, in qemu's user mode: command/big_endian.c. No build
# of this project is big endian, and Debian has no big-endian C library, so it is made by hand here: the
# library as it is, with libc.c in the place of a C library, in a few variants.
find_program(SFRAME_BACKTRACE_AARCH64_CC aarch64-linux-gnu-gcc)
find_program(SFRAME_BACKTRACE_AARCH64_OBJDUMP aarch64-linux-gnu-objdump)
find_program(SFRAME_BACKTRACE_QEMU_AARCH64_BE qemu-aarch64_be)
set(sfb_big_endian ${CMAKE_CURRENT_LIST_DIR})
set(sfb_big_endian_folder ${sfb_tests_out}/big_endian)
set(sfb_big_endian_cc ${SFRAME_BACKTRACE_AARCH64_CC} -mbig-endian -std=c11 -D_GNU_SOURCE -O2 -g
  -Wall -Wextra
  -ffreestanding -fno-stack-protector
  -mno-outline-atomics # they are functions of libgcc
  -isystem ${sfb_big_endian}/include -I${PROJECT_SOURCE_DIR}/include -I${PROJECT_SOURCE_DIR}/src)

if(SFRAME_BACKTRACE_WERROR)
  list(APPEND sfb_big_endian_cc -Werror)
endif()

function(sfb_big_endian_why_not out)
  if(NOT TARGET sfb)
    set(why "the sfb command is not built")
  elseif(NOT SFRAME_BACKTRACE_AARCH64_CC OR NOT SFRAME_BACKTRACE_AARCH64_OBJDUMP)
    set(why "no aarch64-linux-gnu-gcc")
  elseif(NOT SFRAME_BACKTRACE_QEMU_AARCH64_BE)
    set(why "no qemu-aarch64_be")
  else()
    # The headers and the assembler, in one go.
    file(MAKE_DIRECTORY ${sfb_big_endian_folder})
    execute_process(
      COMMAND ${SFRAME_BACKTRACE_AARCH64_CC} -mbig-endian -std=c11 -D_GNU_SOURCE -ffreestanding
        -isystem ${sfb_big_endian}/include -Wa,--gsframe
        -c ${sfb_big_endian}/libc.c -o ${sfb_big_endian_folder}/try.o
      RESULT_VARIABLE failed OUTPUT_QUIET ERROR_QUIET)
    if(failed)
      set(why "aarch64-linux-gnu-gcc makes no big-endian code with .sframe")
    endif()
  endif()
  set(${out} ${why} PARENT_SCOPE)
endfunction()

# The library, as it is built for AArch64 without libunwind, as one object. Without the crash handler: it
# knows no byte order, and takes more of a C library than there is.
function(sfb_big_endian_library)
  get_target_property(sources sfb-objects SOURCES)
  list(FILTER sources EXCLUDE REGEX "libunwind|src/crash/|/insn_decode_|/follow_|/eh_return_") # no such file of AArch64
  list(TRANSFORM sources REPLACE "_${SFRAME_BACKTRACE_ARCH}\\." "_aarch64.")
  list(APPEND sources src/unwind/walk/source_libunwind_none.c src/unwind/process/libunwind_load_none.c)
  foreach(source ${sources})
    get_filename_component(source ${source} ABSOLUTE BASE_DIR ${PROJECT_SOURCE_DIR})
    list(APPEND paths ${source})
  endforeach()
  file(GLOB headers CONFIGURE_DEPENDS ${PROJECT_SOURCE_DIR}/include/*.h
    ${PROJECT_SOURCE_DIR}/include/sfb/*.h ${PROJECT_SOURCE_DIR}/src/*/*.h)
  add_custom_command(OUTPUT ${sfb_big_endian_folder}/library.o
    COMMAND ${sfb_big_endian_cc} -fPIC -fvisibility=hidden -fno-plt -fno-semantic-interposition
      -r -nostdlib ${paths} -o ${sfb_big_endian_folder}/library.o
    DEPENDS ${paths} ${headers} ${CMAKE_CURRENT_FUNCTION_LIST_FILE} VERBATIM)
endfunction()

# sfb_big_endian_program(<name> [FLAGS ...] [START ...] [BARE ...])
# FLAGS are for all of the program; START for start.S and BARE for bare.c come behind them.
function(sfb_big_endian_program name)
  cmake_parse_arguments(arg "" "" "FLAGS;START;BARE" ${ARGN})
  set(flags_of_program.c -Wa,--gsframe)
  set(flags_of_libc.c -Wa,--gsframe)
  set(flags_of_start.S ${arg_START})
  set(flags_of_bare.c ${arg_BARE})
  set(program ${sfb_big_endian_folder}/${name})
  set(objects "")
  set(commands "")
  foreach(source program.c libc.c start.S bare.c)
    list(APPEND objects ${program}-${source}.o)
    list(APPEND commands COMMAND ${sfb_big_endian_cc} ${arg_FLAGS} ${flags_of_${source}}
      -c ${sfb_big_endian}/${source} -o ${program}-${source}.o)
  endforeach()
  file(GLOB sources CONFIGURE_DEPENDS ${sfb_big_endian}/*.[chS])
  add_custom_command(OUTPUT ${program} BYPRODUCTS ${objects}
    ${commands}
    # A build-id: of what has none nothing is kept in the cache of rules.
    COMMAND ${SFRAME_BACKTRACE_AARCH64_CC} -mbig-endian -nostdlib -static -Wl,--build-id
      ${objects} ${sfb_big_endian_folder}/library.o -o ${program}
    DEPENDS ${sources} ${sfb_big_endian_folder}/library.o ${CMAKE_CURRENT_FUNCTION_LIST_FILE}
    VERBATIM)
endfunction()

sfb_big_endian_why_not(sfb_why_not)
if(sfb_why_not)
  sfb_skip(command big_endian "${sfb_why_not}")
  return()
endif()

set(sfb_omit -fomit-frame-pointer)
# Leaves keep no record, as in code that is built without a word about frame pointers.
set(sfb_keep -fno-omit-frame-pointer -momit-leaf-frame-pointer -fno-optimize-sibling-calls)
set(sfb_sign -mbranch-protection=pac-ret+leaf)
sfb_big_endian_library()
sfb_big_endian_program(tables FLAGS ${sfb_omit})
sfb_big_endian_program(signed FLAGS ${sfb_omit} ${sfb_sign} START -Wa,--gsframe)
sfb_big_endian_program(tables-and-one-record FLAGS ${sfb_omit} START -Wa,--gsframe BARE ${sfb_keep})
sfb_big_endian_program(records FLAGS ${sfb_keep} -DFRAME_RECORDS)
sfb_big_endian_program(signed-records FLAGS ${sfb_keep} ${sfb_sign}+b-key -DFRAME_RECORDS)

sfb_tool_test(command big_endian)
target_compile_definitions(test-command-big_endian PRIVATE SFB_BIG_ENDIAN="${sfb_big_endian_folder}"
  SFB_QEMU="${SFRAME_BACKTRACE_QEMU_AARCH64_BE}" SFB_OBJDUMP="${SFRAME_BACKTRACE_AARCH64_OBJDUMP}")
set(sfb_programs tables signed tables-and-one-record records signed-records)
list(TRANSFORM sfb_programs PREPEND ${sfb_big_endian_folder}/)
add_custom_target(big-endian-programs DEPENDS ${sfb_programs})
add_dependencies(test-command-big_endian big-endian-programs)
