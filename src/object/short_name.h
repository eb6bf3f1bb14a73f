/* Readable names of functions without their arguments. */
#ifndef OBJECT_SHORT_NAME_H
#define OBJECT_SHORT_NAME_H

#include <stddef.h>

/**
 * Cuts arguments out of a readable name, those of templates too; three dots stand for them:
 *
 *     void sort<int*, less<int> >(int*, int*)   void sort<...>(...)
 *     <Vec<u8> as Clone>::clone                 <Vec<...> as Clone>::clone
 *
 * Up to three letters are left in their brackets: "(int)". A name whose brackets do not match stays as it is. It never becomes longer.
 */
void object_shorten_name(char *name);

/**
 * Cuts arguments in the same way, and no more of them than it takes: the smallest brackets that suffice, else the
 * largest and again. Then the type that a function template returns goes, which stands before its name.
 *
 * @param size  bytes that the name shall have at most; it stays longer where nothing is left to cut
 */
void object_fit_name(char *name, size_t size);

#endif
