# Builds for AArch64 Linux on another machine with Debian's cross compiler, and runs what is built in
# qemu's user mode. The arm64 libraries are those that `./dev setup` fetched, or another sysroot:
# -DSFRAME_BACKTRACE_AARCH64_SYSROOT=<folder with usr/include>.
set(CMAKE_SYSTEM_NAME Linux)
set(CMAKE_SYSTEM_PROCESSOR aarch64)

if(NOT SFRAME_BACKTRACE_AARCH64_SYSROOT)
  set(cache "$ENV{XDG_CACHE_HOME}")
  if(NOT cache)
    set(cache "$ENV{HOME}/.cache")
  endif()
  set(SFRAME_BACKTRACE_AARCH64_SYSROOT ${cache}/sframe-backtrace/aarch64)
endif()
set(SFRAME_BACKTRACE_AARCH64_SYSROOT ${SFRAME_BACKTRACE_AARCH64_SYSROOT}
  CACHE PATH "arm64 libraries and their headers")
# CMake's own little projects, which try what the compiler can do, read this file anew.
list(APPEND CMAKE_TRY_COMPILE_PLATFORM_VARIABLES SFRAME_BACKTRACE_AARCH64_SYSROOT)

set(CMAKE_C_COMPILER aarch64-linux-gnu-gcc)
set(CMAKE_CXX_COMPILER aarch64-linux-gnu-g++)
set(CMAKE_SYSROOT ${SFRAME_BACKTRACE_AARCH64_SYSROOT})
# Tools are this machine's, all else the sysroot's. What is built or installed is found where it is.
set(CMAKE_FIND_ROOT_PATH_MODE_PROGRAM NEVER)
set(CMAKE_FIND_ROOT_PATH_MODE_LIBRARY ONLY)
set(CMAKE_FIND_ROOT_PATH_MODE_INCLUDE ONLY)
set(CMAKE_FIND_ROOT_PATH_MODE_PACKAGE BOTH)
set(ENV{PKG_CONFIG_SYSROOT_DIR} ${CMAKE_SYSROOT})
set(ENV{PKG_CONFIG_LIBDIR}
  ${CMAKE_SYSROOT}/usr/lib/aarch64-linux-gnu/pkgconfig:${CMAKE_SYSROOT}/usr/share/pkgconfig)

# With every extension that it knows: pointer authentication is one of them.
set(CMAKE_CROSSCOMPILING_EMULATOR qemu-aarch64 -cpu max -L ${CMAKE_SYSROOT})
