# Parts of the build that need more than a C compiler and libc. Each has an option: ON, where it is an
# error if something is missing; OFF; AUTO, where the part is then left out with a message.

# sfb_part(<option> <default> <help>)
function(sfb_part option default help)
  set(${option} ${default} CACHE STRING "${help}: ON, OFF, or AUTO: if what it takes is there")
  set_property(CACHE ${option} PROPERTY STRINGS AUTO ON OFF)
endfunction()

# sfb_find_modules(<out> <module> ...) looks for modules of pkg-config, which become PkgConfig::<MODULE>,
# and adds those that are missing to the list <out>.
function(sfb_find_modules out)
  set(missing ${${out}})
  find_package(PkgConfig QUIET)
  if(NOT PkgConfig_FOUND)
    list(APPEND missing pkg-config ${ARGN})
    list(REMOVE_DUPLICATES missing)
  else()
    foreach(module ${ARGN})
      string(TOUPPER ${module} name)
      pkg_check_modules(${name} QUIET IMPORTED_TARGET ${module})
      if(NOT ${name}_FOUND)
        list(APPEND missing ${module})
      endif()
    endforeach()
  endif()
  set(${out} ${missing} PARENT_SCOPE)
endfunction()

# sfb_packages(<out> <missing> ...) gives the packages of Debian that have what is missing.
function(sfb_packages out)
  set(package_libunwind.h libunwind-dev)
  set(package_libzstd libzstd-dev)
  set(package_libelf libelf-dev)
  set(package_libdw libdw-dev)
  set(package_liblzma liblzma-dev)
  set(package_zlib zlib1g-dev)
  set(package_jansson libjansson-dev)
  set(package_libiberty libiberty-dev)
  set(package_criterion libcriterion-dev)
  set(package_capstone libcapstone-dev)
  set(package_pkg-config pkg-config)
  set(packages "")
  foreach(missing ${ARGN})
    list(APPEND packages ${package_${missing}})
  endforeach()
  list(JOIN packages " " packages)
  set(${out} "${packages}" PARENT_SCOPE)
endfunction()

# sfb_decide(<option> <part> <missing> ...) makes the option ON or OFF in the caller; the cache keeps what
# was asked for. <option>_WHY is what a user reads where the part is left out.
function(sfb_decide option part)
  list(JOIN ARGN ", " missing)
  sfb_packages(packages ${ARGN})
  if(NOT missing)
    set(${option} ON PARENT_SCOPE)
  elseif(${option} STREQUAL "AUTO")
    message(STATUS "sframe-backtrace: built without ${part}: not found: ${missing}; Debian: apt install ${packages}")
    set(${option} OFF PARENT_SCOPE)
    set(${option}_WHY "CMake did not find ${missing}. On Debian: apt install ${packages}, then configure and build again"
      PARENT_SCOPE)
  else()
    message(FATAL_ERROR "sframe-backtrace: ${option} is ${${option}}; not found: ${missing}. "
      "Install what is missing (Debian: apt install ${packages}), or configure with -D${option}=AUTO or OFF: "
      "without ${part}")
  endif()
endfunction()
