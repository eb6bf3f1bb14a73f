# What `cmake --install` puts where: libraries, headers, a CMake package and a pkg-config file, both
# relocatable.
foreach(header IN LISTS sfb_public_headers)
  cmake_path(GET header PARENT_PATH dir)
  cmake_path(RELATIVE_PATH dir BASE_DIRECTORY include)
  if(dir STREQUAL ".") # newer versions warn of a path that is not normal
    set(dir "")
  else()
    string(PREPEND dir "/")
  endif()
  install(FILES ${header} DESTINATION ${CMAKE_INSTALL_INCLUDEDIR}${dir})
endforeach()

install(TARGETS sframe-backtrace-shared sframe-backtrace-static EXPORT sframe-backtrace-targets)
if(TARGET sfb-recording)
  install(TARGETS sfb-recording EXPORT sframe-backtrace-targets)
endif()
if(TARGET sfb-remote-archive)
  install(TARGETS sfb-remote-archive EXPORT sframe-backtrace-targets)
  install(FILES include/sfb/remote.h include/sfb/copied.h DESTINATION ${CMAKE_INSTALL_INCLUDEDIR}/sfb)
endif()
if(TARGET sfb-agent-cpu)
  # Linked into a program, one is found there by the program's RUNPATH.
  install(TARGETS sfb-agent-cpu sfb-agent-heap EXPORT sframe-backtrace-targets LIBRARY DESTINATION ${sfb_agents_dir})
  install(TARGETS sfb-preload-cpu sfb-preload-heap LIBRARY DESTINATION ${sfb_agents_dir})
  if(TARGET sfb-recording)
    install(FILES include/sframe_backtrace_record.h DESTINATION ${CMAKE_INSTALL_INCLUDEDIR})
  endif()
endif()
install(EXPORT sframe-backtrace-targets NAMESPACE sframe_backtrace::
  DESTINATION ${CMAKE_INSTALL_LIBDIR}/cmake/sframe-backtrace)
if(TARGET sfb)
  install(TARGETS sfb)
endif()

configure_package_config_file(cmake/sframe-backtrace-config.cmake.in sframe-backtrace-config.cmake
  INSTALL_DESTINATION ${CMAKE_INSTALL_LIBDIR}/cmake/sframe-backtrace)
write_basic_package_version_file(sframe-backtrace-config-version.cmake
  COMPATIBILITY SameMinorVersion)
install(FILES
  ${CMAKE_CURRENT_BINARY_DIR}/sframe-backtrace-config.cmake
  ${CMAKE_CURRENT_BINARY_DIR}/sframe-backtrace-config-version.cmake
  DESTINATION ${CMAKE_INSTALL_LIBDIR}/cmake/sframe-backtrace)

cmake_path(RELATIVE_PATH CMAKE_INSTALL_FULL_LIBDIR BASE_DIRECTORY ${CMAKE_INSTALL_PREFIX}
  OUTPUT_VARIABLE libdir)
file(RELATIVE_PATH sfb_pc_prefix /${libdir}/pkgconfig /)
configure_file(cmake/sframe-backtrace.pc.in sframe-backtrace.pc @ONLY)
install(FILES ${CMAKE_CURRENT_BINARY_DIR}/sframe-backtrace.pc
  DESTINATION ${CMAKE_INSTALL_LIBDIR}/pkgconfig)
foreach(library recording remote)
  if(TARGET sfb-${library})
    configure_file(cmake/sfb-${library}.pc.in sfb-${library}.pc @ONLY)
    install(FILES ${CMAKE_CURRENT_BINARY_DIR}/sfb-${library}.pc DESTINATION ${CMAKE_INSTALL_LIBDIR}/pkgconfig)
  endif()
endforeach()
if(TARGET sfb-agent-cpu)
  set(description_cpu "Samples of CPU time")
  set(description_heap "Allocations, and the table of live blocks")
  foreach(kind cpu heap)
    set(description ${description_${kind}})
    configure_file(cmake/sfb-agent.pc.in sfb-agent-${kind}.pc @ONLY)
    install(FILES ${CMAKE_CURRENT_BINARY_DIR}/sfb-agent-${kind}.pc DESTINATION ${CMAKE_INSTALL_LIBDIR}/pkgconfig)
  endforeach()
endif()
# The pages lie as in the source, so that their links lead somewhere.
foreach(page LICENSE CONTRIBUTING.md NEWS.md README.md SECURITY.md src/README.md profiler/README.md toolchain/README.md)
  if(EXISTS ${PROJECT_SOURCE_DIR}/${page}) # not in a copy of the library alone
    cmake_path(GET page PARENT_PATH folder)
    install(FILES ${page} DESTINATION ${CMAKE_INSTALL_DOCDIR}/${folder})
  endif()
endforeach()
foreach(docs docs examples profiler/docs symbols/docs toolchain/docs)
  if(EXISTS ${PROJECT_SOURCE_DIR}/${docs})
    install(DIRECTORY ${docs}/ DESTINATION ${CMAKE_INSTALL_DOCDIR}/${docs} FILES_MATCHING
      PATTERN "*.md" PATTERN "*.png" PATTERN "*.c" PATTERN "*.cpp" PATTERN "*.schema.json")
  endif()
endforeach()
