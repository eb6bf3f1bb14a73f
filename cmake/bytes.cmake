# sfb_bytes(<file> <output>) writes the bytes of a file as numbers, for an array in C; a zero follows. CMake runs again when
# the file changes.
function(sfb_bytes file output)
  set_property(DIRECTORY APPEND PROPERTY CMAKE_CONFIGURE_DEPENDS ${file})
  file(READ ${file} bytes HEX)
  string(REGEX REPLACE ".." "0x\\0," bytes "${bytes}")
  string(REPEAT "0x..," 16 line)
  string(REGEX REPLACE "${line}" "\\0\n" bytes "${bytes}")
  file(CONFIGURE OUTPUT ${output} CONTENT "${bytes}0x00\n" @ONLY)
endfunction()
