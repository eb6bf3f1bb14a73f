/* Loads libunwind; sfb_libunwind_loaded() in <sfb/walk.h> is implemented here, too. */
#ifndef SFB_UNWIND_PROCESS_LIBUNWIND_LOAD_H
#define SFB_UNWIND_PROCESS_LIBUNWIND_LOAD_H

struct sfb_libunwind;

/*
 * Loads and binds it, once, when this library is loaded.
 *
 * @return what sfb_libunwind_loaded() gives from then on; NULL: it cannot be loaded, or is not built in
 *
 * Signals: NOT safe: it takes the loader's lock.
 */
const struct sfb_libunwind *sfb_libunwind_load(void);

#endif
