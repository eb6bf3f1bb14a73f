/*
 * What LD_PRELOAD names: an empty library with the agent as its auxiliary filter (DT_AUXILIARY, $ORIGIN/libsfb-agent-*.so).
 * glibc loads that in front of it. musl does not know the tag: its programs get a library that needs nothing, where the
 * agent itself ended them with status 127 ("Error relocating ... _dl_find_object: symbol not found").
 *
 * Tried and dropped: a look at PT_INTERP in front of each exec. The agent sees neither what a program of musl executes
 * nor a system call that was made without the C library.
 */
_Static_assert(sizeof(int) == 4, "a translation unit is not empty");
