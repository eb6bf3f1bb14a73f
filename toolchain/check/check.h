/*
 * `sfb check`: judges an .sframe.
 *
 *     check_image.c the levels, one after the other
 *     structure.c   level 1: the header, and where its tables are
 *     container.c   level 1: what the ELF file says of the section
 *     order.c       level 2: the table of functions
 *     rows.c        level 2: the rows
 *     place.c       level 3: functions against code, symbols and linkage tables
 *     relocations.c level 3: the same in object files
 *     compare.c     level 4: rows against .eh_frame, which cfi.c reads; answer.c: rows by pc
 *     code.c        rows against the machine code, where no .eh_frame is; code.h has its files
 *     cause.c       the one fault that explains most of all this
 *     coverage.c    how much of the code has a row; stats_collect.c: by section and function
 *     reader.c      what readers of one release take
 *     kernel.c      what a kernel's reader wants beside all this
 *     lost.c        functions without rows, if they are much of it
 *     known.c       known faults of releases; producer.c: guesses the producer
 *     policy.c      what of it matters to the caller; baseline.c: what they know already
 *     extract.c     level 5: one function for a bug report
 *
 * A level is run as far as the one before left something to look at. Nothing here prints: the
 * subcommand is in command.c, its files in files.c and jobs.c, what is printed in report*.c.
 */
#ifndef TOOLCHAIN_CHECK_CHECK_H
#define TOOLCHAIN_CHECK_CHECK_H

#include "symbols/code_ranges.h"
#include "symbols/labels.h"
#include "symbols/object.h"
#include "symbols/relocate.h"
#include "toolchain/check/findings.h"
#include "toolchain/check/part.h"
#include "toolchain/check/policy.h"
#include "toolchain/check/stats.h"

/* A count, and subsets of it. */
struct check_share {
    uint64_t all;
    uint64_t covered; /* .sframe has a row */
    uint64_t equal;   /* equal to .eh_frame */
    uint64_t beyond;  /* not expressible, and without a row */
};

struct check_comparison {
    bool done;
    struct check_share functions, bytes, rows; /* of .eh_frame; rows: pcs with a change */
    uint64_t sframe_size, eh_frame_size;
};

/* Code with rows, by symbols and by .eh_frame. */
struct check_coverage {
    bool done;
    uint64_t functions, functions_covered; /* covered: each byte has a row */
    uint64_t bytes, bytes_covered;
};

/* How the section is read against its header; all zero: as the header says. */
struct check_reading {
    uint8_t version;   /* instead of the header's; 0: the header's */
    bool other_starts; /* starts count from fields instead of the section, or the reverse */
    int64_t shift;     /* added to all starts */
    struct sframe_fix fix;
};

struct check;
struct check_reader;

/* When rows are compared with the machine code. */
enum check_code_when {
    CHECK_CODE_WHERE_NEEDED, /* functions without .eh_frame */
    CHECK_CODE_ALL,
    CHECK_CODE_NONE
};

struct check_options {
    enum check_code_when code;
    bool no_cfi;                       /* levels 1 to 3 only */
    bool stats;                        /* statistics, too */
    bool kernel;                       /* the kernel's own table: kernel.c */
    const struct check_reader *reader; /* what it takes, too; NULL: not asked */
    bool as_it_stands;                 /* no search for a cause */
    bool raw;                          /* a bare section */
    uint64_t raw_address;
    size_t limit; /* of findings passed to take; 0: all */
    /*
     * Called for each finding as it comes, up to the limit; NULL: findings are only counted. c has
     * the present state of the check.
     */
    void (*take)(void *data, const struct check *c, const struct finding *finding);
    void *take_data;
    const struct check_policy *policy; /* NULL: all codes, at their own severity */
    /* Called now and then with the progress on a file; may be NULL. */
    void (*progress)(const char *name, uint64_t done, uint64_t all);
    /* Called at the end, before the file is freed; may be NULL. */
    void (*inspect)(const struct check *c, void *data);
    void *inspect_data;
};

/* The result for one file. */
struct check_result {
    struct findings findings;
    struct check_comparison comparison;
    struct check_coverage coverage;
    struct check_stats stats;
    char producer[96]; /* a guess; "": without a section */
    bool has_section;
    uint8_t version; /* 0: unknown */
    uint64_t functions, rows;
    uint64_t looks; /* at entries and functions, by rules of the search for a cause: its cost */
    uint64_t section_at; /* file offsets of .sframe and .eh_frame */
    uint64_t eh_frame_at;
    struct object_fault
        fault; /* cause != NULL: the file is unreadable, and no other field is set */
};

/* Linkage tables: at most one of each kind. */
enum { CHECK_PLT_MAX = 4 };

/* A running check. */
struct check {
    const char *name;
    const struct check_options *options;
    struct check_result *result;
    struct findings *findings; /* of the result */
    struct object *object;     /* NULL: a bare section */
    const uint8_t *data;       /* of the section, as in the file or as read */
    uint8_t *changed;          /* data if it differs from the file; else NULL */
    struct check_reading reading;
    struct sframe_version version; /* of that reading, if its entries have another size */
    struct object_copy copy;       /* the section with relocations applied: starts come from it */
    size_t size;
    uint64_t address;
    struct sframe_part *parts;
    size_t part_count, part_capacity;
    size_t plt[CHECK_PLT_MAX]; /* sections .plt, .plt.sec, .plt.got and .iplt */
    size_t plt_count;
    struct object_range *functions; /* known functions; coverage.c */
    size_t function_count, function_capacity;
    bool compares;               /* level 4 will compare the rows */
    struct known_facts *facts;   /* NULL: nothing is known */
    unsigned cause;              /* enum check_code of the cause that was found; 0: none */
    uint8_t cause_field;         /* SF0711: the field of the header */
    bool lost_left_out;          /* what is lost is what GNU as leaves out */
    struct object_range lost_at; /* the one stretch of code that is lost; else empty */
    bool first;                  /* the levels may run again: nothing is written down */
    bool no_memory;
};

/*
 * Checks one file, or one member of an archive.
 *
 * @param out    needs check_result_free(), whatever the outcome
 * @param image  the whole file; libelf asks for writable memory and does not write
 */
void check_image(struct check_result *out, const char *name, uint8_t *image, size_t size,
                 const struct check_options *options);

void check_result_free(struct check_result *result);

/*
 * Reads the section as c->reading says, and places its functions.
 *
 * @return false: no memory
 */
bool check_read(struct check *c);

/*
 * Runs the levels that read the section, in a reading, for the counts alone. They are too low once
 * out->stop_at is reached.
 */
void check_count(struct findings *out, const struct check *c, const struct check_reading *reading);

/* Frees what check_read() made. */
void check_unread(struct check *c);

/* The levels, in order. */
void check_container(struct check *c);
void check_section_type(struct check *c, const struct object_section *section);
bool check_structure(struct check *c); /* false: no memory */
void check_order(struct check *c);
void check_rows(struct check *c);
void check_place_functions(struct check *c); /* places functions; runs before the levels above */
void check_places(struct check *c);
void check_relocations(struct check *c);
void check_against_cfi(struct check *c);
void check_against_code(struct check *c);
void check_coverage(struct check *c);
void check_producer(struct check *c);
void check_kernel(struct check *c);
void check_for_reader(struct check *c);

/* Adds a function of .eh_frame to the coverage. */
void check_note_function(struct check *c, uint64_t start, uint64_t end);

/* Places of an entry, of its field, of a row, of a row's info byte. */
struct finding_place place_of_entry(const struct sframe_part *part,
                                    const struct sframe_entry *entry, enum sframe_field field);
struct finding_place place_of_row(const struct sframe_part *part, const struct sframe_entry *entry,
                                  uint32_t row, uint64_t position);

/* An entry and its part. */
struct check_function {
    const struct sframe_part *part;
    const struct sframe_entry *entry;
};

/*
 * All functions, ascending by start, then by order in the section. @return NULL: empty, or no
 * memory
 */
struct check_function *check_functions_sorted(const struct check *c, size_t *count);

#endif
