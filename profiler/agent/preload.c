/*
 * The library that LD_PRELOAD names: empty, with the agent as its auxiliary filter (DT_AUXILIARY,
 * $ORIGIN/libsfb-agent-*.so). glibc loads the filter in front of it. musl ignores the tag, so its programs get a library
 * without dependencies. The agent itself would end them with status 127 ("Error relocating ... _dl_find_object: symbol
 * not found").
 *
 * Tried and dropped: checking PT_INTERP before each exec. The agent sees neither what a musl program executes, nor system
 * calls made without the C library.
 */
_Static_assert(sizeof(int) == 4, "a translation unit is not empty");
