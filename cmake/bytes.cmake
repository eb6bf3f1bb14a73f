# cmake -DFROM=<file> -DTO=<file> -P bytes.cmake writes the bytes of a file as numbers, for an array in C. A zero follows.
file(READ "${FROM}" bytes HEX)
string(REGEX REPLACE ".." "0x\\0," bytes "${bytes}")
string(REPEAT "0x..," 16 line)
string(REGEX REPLACE "${line}" "\\0\n" bytes "${bytes}")
file(WRITE "${TO}" "${bytes}0x00\n")
