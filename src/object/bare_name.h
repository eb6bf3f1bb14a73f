/* Names of functions as people type them. */
#ifndef OBJECT_BARE_NAME_H
#define OBJECT_BARE_NAME_H

/**
 * Leaves of a readable name what the function is called: no return type, template arguments, parameters, nor what
 * compilers put behind it.
 *
 *     void std::sort<int*, less<int> >(int*, int*)    std::sort
 *     A<int>::f(int) const::{lambda()#1}::operator()  A::f::{lambda()#1}::operator()
 *     <Vec<u8> as Clone>::clone                       stays
 *     parse.constprop.0                               parse
 *
 * A name whose brackets do not match is cut where they stop to. It never becomes longer.
 */
void object_bare_name(char *name);

/** @return the last part of a bare name: "sort" of "std::sort" */
const char *object_last_name(const char *bare);

#endif
