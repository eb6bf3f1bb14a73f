/* Names of functions as people write them. */
#ifndef SYMBOL_NAME_H
#define SYMBOL_NAME_H

#include <stdbool.h>

/*
 * @param raw        as a symbol table or debug information has it
 * @param demangled  C++ names are to be read by people: "shape::area(int)" for "_ZN5shape4areaEi"
 * @return the name, for free(), or NULL where memory is out
 */
char *symbol_name(const char *raw, bool demangled);

#endif
