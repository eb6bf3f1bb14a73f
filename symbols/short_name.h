/* Shortens readable names of functions. */
#ifndef SYMBOLS_SHORT_NAME_H
#define SYMBOLS_SHORT_NAME_H

#include <stddef.h>

/**
 * Replaces arguments, also of templates, by three dots:
 *
 *     void sort<int*, less<int> >(int*, int*)   void sort<...>(...)
 *     <Vec<u8> as Clone>::clone                 <Vec<...> as Clone>::clone
 *
 * Up to three letters stay in their brackets: "(int)". A name with unmatched brackets is unchanged.
 * It never becomes longer.
 */
void object_shorten_name(char *name);

/**
 * Cuts arguments likewise, and as few as possible: the smallest brackets that suffice, else the
 * largest and again. Then the return type of a function template goes.
 *
 * @param size  wanted maximum in bytes; without further cuts the name stays longer
 */
void object_fit_name(char *name, size_t size);

#endif
