/*
 * glibc's headers are for both byte orders, but each installation has only its own list of
 * functions that are stubs (<gnu/stubs.h> asks for this one). There is no big-endian glibc here:
 * see ../../libc.c.
 */
