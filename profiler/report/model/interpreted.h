/* Functions of interpreters, put into a stack where the C functions that ran them stand. */
#ifndef PROFILER_REPORT_MODEL_INTERPRETED_H
#define PROFILER_REPORT_MODEL_INTERPRETED_H

#include "profiler/report/model/choice.h"
#include "profiler/report/model/data.h"
#include "profiler/report/model/locate.h"
#include "profiler/report/model/unpack.h"

/*
 * Makes the stack that is shown of one that was unpacked.
 *
 * @param room      of this function; zero before its first use, report_unpacked_free() ends it
 * @param unpacked  the stack of C functions; not changed
 * @param calls     its functions of an interpreter
 * @param out       has locations, and their count, alone; valid until the next call
 * @return false: no memory
 */
bool report_interpreted(struct report_unpacked *room, struct report_locator *locator,
                        uint32_t source, const struct report_unpacked *unpacked,
                        const struct report_code_frames *calls, enum report_languages languages,
                        const struct report_unpacked **out);

#endif
