/* Readable names of functions without their arguments. */
#ifndef OBJECT_SHORT_NAME_H
#define OBJECT_SHORT_NAME_H

/**
 * Cuts arguments out of a readable name, those of templates too; three dots stand for them:
 *
 *     void sort<int*, less<int> >(int*, int*)   void sort<...>(...)
 *     <Vec<u8> as Clone>::clone                 <Vec<...> as Clone>::clone
 *
 * Up to three letters are left in their brackets: "(int)". A name whose brackets do not match stays as it is. It never becomes longer.
 */
void object_shorten_name(char *name);

#endif
