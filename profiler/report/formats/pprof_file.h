/* A pprof file in the making: what profiler/report/pprof*.c share. */
#ifndef PROFILER_REPORT_FORMATS_PPROF_FILE_H
#define PROFILER_REPORT_FORMATS_PPROF_FILE_H

#include "profiler/report/formats/gzip.h"
#include "profiler/report/formats/proto.h"
#include "profiler/report/model/model.h"
#include "profiler/report/model/parts.h"

/* Fields: profile.proto has them. */
enum { SAMPLE_TYPE = 1, SAMPLE, MAPPING, LOCATION, FUNCTION, STRING_TABLE };
enum { TIME_NANOS = 9, DURATION_NANOS, PERIOD_TYPE, PERIOD, COMMENT, DEFAULT_SAMPLE_TYPE };
enum { TYPE_TYPE = 1, TYPE_UNIT };
enum { SAMPLE_LOCATION_ID = 1, SAMPLE_VALUE, SAMPLE_LABEL };
enum { LABEL_KEY = 1, LABEL_STR, LABEL_NUM };
enum { MAPPING_ID = 1, MEMORY_START, MEMORY_LIMIT, FILE_OFFSET, FILENAME, BUILD_ID };
enum { HAS_FUNCTIONS = 7, HAS_FILENAMES, HAS_LINE_NUMBERS, HAS_INLINE_FRAMES };
enum { LOCATION_ID = 1, LOCATION_MAPPING_ID, LOCATION_ADDRESS, LOCATION_LINE };
enum { LINE_FUNCTION_ID = 1, LINE_LINE, LINE_COLUMN };
enum { FUNCTION_ID = 1, FUNCTION_NAME, FUNCTION_SYSTEM_NAME, FUNCTION_FILENAME };

/* What stands for frames that are not there: locations and functions behind the model's own. */
enum { MARK_OMITTED, MARK_TRUNCATED, MARK_NO_STACK, MARK_UNSAMPLED, MARK_AWAIT, MARKS };

/* Things of the model by number, in the order in which they came first; ids are from 1. */
struct report_pprof_numbers {
    uint32_t *id_of; /* 0: none yet */
    uint32_t *order; /* by id - 1 */
    uint32_t count;
};

/* Offsets that were asked for. */
struct report_pprof_extent {
    uint64_t low, high; /* the first, and the byte behind the last */
};

struct report_pprof {
    const struct report_model *model;
    struct report_gzip *gzip;
    struct sfb_bytes whole, message, part; /* top level, a message in it, and one in that */
    struct report_pprof_numbers mappings, locations, functions;
    uint32_t *string_of; /* of each of the model: + 1 */
    struct report_strings strings;
    struct report_pprof_extent *extents; /* of each module */
    struct report_way way;               /* of the process of the last sample */
    bool several;                        /* processes */
    bool named;                          /* a function of a module has a name */
    bool compares, failed;
};

/* @return false: no memory. Ids are from 1 to count */
bool report_pprof_numbers_make(struct report_pprof_numbers *n, size_t count);
void report_pprof_numbers_free(struct report_pprof_numbers *n);

/* Without a file: its tables alone. @return false: no memory; it is to be ended in any case */
bool report_pprof_tables_begin(struct report_pprof *p, const struct report_model *model);

/* @param gzip  where it goes; NULL: no memory, which makes it fail */
void report_pprof_begin(struct report_pprof *p, struct report_gzip *gzip,
                        const struct report_model *model);

/* Frees what it took, but not the gzip file. */
void report_pprof_end(struct report_pprof *p);

/* @return a thing's id, which it has from its first use on */
uint32_t report_pprof_id(struct report_pprof_numbers *n, uint32_t thing);

/* @return the number of a text, which is printable */
uint32_t report_pprof_printed(struct report_pprof *p, const char *text);

/* @return that of any text: what is written is valid UTF-8 */
uint32_t report_pprof_text(struct report_pprof *p, const char *text);

/* @return that of a string of the model */
uint32_t report_pprof_string(struct report_pprof *p, uint32_t string);

/* The message that was put together goes out as a field; or fields did. */
void report_pprof_put(struct report_pprof *p, unsigned field);
void report_pprof_flush(struct report_pprof *p);

#endif
