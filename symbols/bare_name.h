/* Names of functions as people type them. */
#ifndef SYMBOLS_BARE_NAME_H
#define SYMBOLS_BARE_NAME_H

/**
 * Reduces a readable name to the function's own: without return type, template arguments,
 * parameters, and compilers' suffixes.
 *
 *     void std::sort<int*, less<int> >(int*, int*)    std::sort
 *     A<int>::f(int) const::{lambda()#1}::operator()  A::f::{lambda()#1}::operator()
 *     <Vec<u8> as Clone>::clone                       stays
 *     parse.constprop.0                               parse
 *
 * A name with unmatched brackets is cut at the first of these. It never becomes longer.
 */
void object_bare_name(char *name);

/** @return the last part of a bare name: "sort" of "std::sort" */
const char *object_last_name(const char *bare);

#endif
