/*
 * `sfb check`: is this .sframe right?
 *
 *     structure.c   level 1: the header, and where its tables are
 *     container.c   level 1: what the ELF file says of the section
 *     order.c       level 2: the table of functions
 *     rows.c        level 2: the rows
 *     place.c       level 3: functions against code, symbols and linkage tables
 *     relocations.c level 3: the same in object files
 *     compare.c     level 4: rows against .eh_frame, which cfi.c reads; answer.c: rows by pc
 *     code.c        rows against the machine code, where no .eh_frame is; code.h has its files
 *     cause.c       the one fault that explains most of all this
 *     coverage.c    how much of the code has a row; stats.c: by section and function
 *     kernel.c      what a kernel's reader wants beside all this
 *     known.c       whose fault it is; producer.c: who made the section
 *     policy.c      what of it matters to the caller; baseline.c: what they know already
 *     extract.c     level 5: one function for a bug report
 *
 * A level is run as far as the one before left something to look at. Nothing here prints: the
 * subcommand is in command.c, its files in files.c and jobs.c, what is printed in report*.c.
 */
#ifndef CHECK_H
#define CHECK_H

#include "findings.h"
#include "object/code_ranges.h"
#include "object/labels.h"
#include "object/object.h"
#include "object/relocate.h"
#include "part.h"
#include "policy.h"
#include "stats.h"

/* So many of something, and how many of those ... */
struct check_share {
    uint64_t all;
    uint64_t covered; /* .sframe has a row */
    uint64_t equal;   /* it says what .eh_frame says */
    uint64_t beyond;  /* no row can say it, and there is none */
};

struct check_comparison {
    bool done;
    struct check_share functions, bytes, rows; /* of .eh_frame; rows: pcs where either changes */
    uint64_t sframe_size, eh_frame_size;
};

/* How much of the code has a row, by its symbols and by .eh_frame. */
struct check_coverage {
    bool done;
    uint64_t functions, functions_covered; /* those with a row for each byte */
    uint64_t bytes, bytes_covered;
};

/* How the section is read, where that is not what it says; all zero: as it says. */
struct check_reading {
    uint8_t version;   /* instead of its own; 0: its own */
    bool other_starts; /* from their fields if it says from the section, and the other way round */
    int64_t shift;     /* added to all starts */
};

struct check;

/* When rows are compared with the machine code. */
enum check_code_when {
    CHECK_CODE_WHERE_NEEDED, /* of functions that .eh_frame does not have */
    CHECK_CODE_ALL,
    CHECK_CODE_NONE
};

struct check_options {
    enum check_code_when code;
    bool no_cfi;       /* levels 1 to 3 only */
    bool stats;        /* statistics, too */
    bool kernel;       /* it is a kernel's own table: kernel.c */
    bool as_it_stands; /* a cause that explains everything is not looked for */
    bool raw;          /* a bare section */
    uint64_t raw_address;
    size_t limit; /* of findings to tell; 0: all */
    /* Called for each finding as it comes, up to the limit; NULL: they are counted only. What is
     * known of the file so far is in c. */
    void (*take)(void *data, const struct check *c, const struct finding *finding);
    void *take_data;
    const struct check_policy *policy; /* NULL: all codes, as they are */
    /* Called now and then with how much of the work on a file is done; NULL: nobody wants to know.
     */
    void (*progress)(const char *name, uint64_t done, uint64_t all);
    /* Called at the end, while all that was read is still there; NULL: nobody wants to see it. */
    void (*inspect)(const struct check *c, void *data);
    void *inspect_data;
};

/* What is known of a file after its check. */
struct check_result {
    struct findings findings;
    struct check_comparison comparison;
    struct check_coverage coverage;
    struct check_stats stats;
    char producer[96]; /* a guess; "": there is no section */
    bool has_section;
    uint8_t version; /* 0: unknown */
    uint64_t functions, rows;
    uint64_t section_at; /* where .sframe and .eh_frame are in the file, for byte offsets there */
    uint64_t eh_frame_at;
    struct object_fault
        fault; /* cause != NULL: the file cannot be read, and nothing else is here */
};

/* Linkage tables: a file has one of each kind. */
enum { CHECK_PLT_MAX = 4 };

/* One check while it runs. */
struct check {
    const char *name;
    const struct check_options *options;
    struct check_result *result;
    struct findings *findings; /* of the result */
    struct object *object;     /* NULL: a bare section */
    const uint8_t *data;       /* of the section, as it stands in the file, or is read */
    uint8_t *changed;          /* data, if it is not what stands in the file; else NULL */
    struct check_reading reading;
    struct object_copy copy; /* of it, with relocations applied: starts are read there */
    size_t size;
    uint64_t address;
    struct sframe_part *parts;
    size_t part_count, part_capacity;
    size_t plt[CHECK_PLT_MAX]; /* sections .plt, .plt.sec, .plt.got and .iplt */
    size_t plt_count;
    struct object_range *functions; /* that there are; coverage.c */
    size_t function_count, function_capacity;
    bool compares; /* level 4 will compare the rows */
    bool no_memory;
};

/*
 * Checks one file, or one member of an archive.
 *
 * @param out    to be freed with check_result_free(), whatever it says
 * @param image  the whole file; libelf wants it writable, and does not write
 */
void check_image(struct check_result *out, const char *name, uint8_t *image, size_t size,
                 const struct check_options *options);

void check_result_free(struct check_result *result);

/*
 * Reads the section as c->reading says, and says where its functions are.
 *
 * @return false: no memory
 */
bool check_read(struct check *c);

/* Forgets it again. */
void check_unread(struct check *c);

/* The levels. Each takes what the ones before have made of the section. */
void check_container(struct check *c);
void check_section_type(struct check *c, const struct object_section *section);
bool check_structure(struct check *c); /* false: no memory */
void check_order(struct check *c);
void check_rows(struct check *c);
void check_place_functions(struct check *c); /* says where functions start, before all of these */
void check_places(struct check *c);
void check_relocations(struct check *c);
void check_against_cfi(struct check *c);
void check_against_code(struct check *c);
void check_coverage(struct check *c);
void check_producer(struct check *c);
void check_kernel(struct check *c);

/* Tells coverage of a function that .eh_frame has. */
void check_note_function(struct check *c, uint64_t start, uint64_t end);

/* Where an entry, a field of one, a row or the info of one is. */
struct finding_place place_of_entry(const struct sframe_part *part,
                                    const struct sframe_entry *entry, enum sframe_field field);
struct finding_place place_of_row(const struct sframe_part *part, const struct sframe_entry *entry,
                                  uint32_t row, uint64_t position);

/* An entry and its part, for lists through all parts. */
struct check_function {
    const struct sframe_part *part;
    const struct sframe_entry *entry;
};

/* All functions, ascending by start, then as they stand. @return NULL: none, or no memory */
struct check_function *check_functions_sorted(const struct check *c, size_t *count);

#endif
