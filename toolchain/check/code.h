/*
 * Rows against the machine code.
 *
 *     insn.h           the effect of an instruction, for any machine
 *     frame_state.h    the state of a frame at an instruction
 *     code_function.c  rows and instructions of a function
 *     code_bounds.c    starts of rows, ends of functions
 *     code_flow.c      control flow
 *     code_habits.h    correct code that looks like a fault
 *     code_judge.c     a state against a row
 *     code_edges.c     jumps and calls between functions
 *     code_outermost.c rows without a caller
 *     code.c           entry point and counts
 */
#ifndef TOOLCHAIN_CHECK_CODE_H
#define TOOLCHAIN_CHECK_CODE_H

#include "toolchain/check/check.h"
#include "toolchain/check/frame_state.h"
#include "toolchain/check/words.h"

/* Why code could not be followed. */
enum code_gap {
    GAP_HEIGHT, /* the distance from sp to the CFA is unknown: alloca, an aligned stack */
    GAP_BLOCK,  /* no known predecessor */
    GAP_BYTES,  /* no instruction that the decoder knows */
    GAP_LARGE,  /* too much code, or too many rows */
    GAP_TRICK,  /* the function returns to an address that it pushed */
    GAP_COUNT
};

/* A caller of a function that is outermost by its first row. */
struct code_caller {
    uint64_t pc; /* of its call, if known */
    bool known;
    bool said; /* a return is reported already */
};

struct code_check {
    struct check *c;
    struct decoder *decoder;
    struct machine machine;
    struct check_function *all; /* ascending by start */
    size_t count;
    uint64_t functions, insns;     /* that were followed */
    uint64_t followed;             /* functions without a gap */
    uint64_t gaps[GAP_COUNT];      /* functions with a gap of this kind */
    uint64_t code_left, rows_left; /* that may still be read */
    struct code_caller *callers;   /* for each of all */
    bool blind;                    /* rows are not read: the code alone decides */
};

struct code_row {
    uint64_t start; /* from the start of the function, or of a repeated entry */
    struct sfb_rule rule;
    uint64_t position; /* in the FRE sub-section */
    uint32_t index;
    bool usable;    /* the rule is usable */
    bool outermost; /* the rule says that there is no caller */
    /* The finding on this row, reported after the whole function: */
    unsigned code; /* enum check_code; 0: none */
    uint64_t pc;
    char words[RULE_WORDS_SIZE];
};

/* Places where a function saves fp: rarely more than one. */
enum { CODE_SAVES = 4 };

/* A function under analysis. */
struct code_function {
    struct code_check *cc;
    size_t index; /* in cc->all */
    struct check_function f;
    uint64_t start, end;
    uint32_t repeat; /* its rows repeat after so many bytes; 0: they do not */
    struct code_row *rows;
    size_t row_count, row_capacity;
    struct insn *insns; /* ascending */
    size_t insn_count, insn_capacity;
    struct frame_state **states; /* one for each reached instruction; else NULL */
    size_t state_count;
    uint8_t *marks; /* enum code_mark, one for each instruction */
    size_t *queue;
    size_t queued;
    int64_t save[CODE_SAVES]; /* offsets from the CFA where fp is saved */
    unsigned saves;
    bool gaps[GAP_COUNT];
    bool open;    /* SF0812 was reported */
    bool telling; /* the flow is complete: differences are recorded */
    bool tricks;  /* sp at a return is not that of the entry: CFA and RA are not judged */
};

enum code_mark {
    MARK_LEADER = 1,  /* target of a jump */
    MARK_VISITED = 2, /* reached */
    MARK_QUEUED = 4,
    MARK_HOLE = 8,  /* followed by bytes that are no instruction */
    MARK_AGAIN = 32 /* the lowest of three bits: changes of its state */
};

/* Reads rows and instructions. @return false: no memory, or too much to read */
bool code_function_read(struct code_function *u, struct check_function f);

/* Empties it; the memory is reused. */
void code_function_reset(struct code_function *u);
void code_function_free(struct code_function *u);

/* The row at a pc of the function; NULL: none. */
struct code_row *code_row_at(const struct code_function *u, uint64_t pc);

/* The instruction that begins at pc. @return insn_count: none */
size_t code_insn_at(const struct code_function *u, uint64_t pc);

/* Follows all paths. @return false: no memory */
bool code_follow(struct code_function *u);

/*
 * Follows the paths from the function's start alone, and reports nothing. A second path that brings another frame to
 * a place is a gap. @return false: no memory
 */
bool code_follow_blindly(struct code_function *u);

/* Checks that rows, instructions and the function begin and end at the same bytes. */
void code_judge_bounds(struct code_function *u);

/* Checks the code behind the last instruction, if control goes on there. */
void code_judge_end(struct code_function *u, const struct insn *last, const struct frame_state *s);

/* Reports that control goes on behind the function's end. */
void code_say_open(struct code_function *u, const struct insn *i, uint64_t to,
                   const struct frame_state *s);

/* The function at a pc, the last one that starts before it; NULL: none covers it. */
const struct check_function *code_function_at(const struct code_check *cc, uint64_t pc);

/* The first difference of a row from the state. @return 0: none; else the finding's code */
unsigned code_difference(const struct frame_state *s, const struct machine *m,
                         const struct sfb_rule *rule);

/* Records a difference, once a row. @param why  NULL: the state explains it */
void code_note(struct code_function *u, enum check_code code, struct code_row *row, uint64_t pc,
               const struct frame_state *s, const char *why);

/* Reports the recorded differences. */
void code_say(struct code_function *u);

/* Compares the state at a jump or call with the row of its target. */
void code_edge(struct code_function *u, const struct insn *i, const struct frame_state *s);

/* Records a caller of an outermost function: its code goes on behind the call. */
void code_call_outermost(struct code_function *u, size_t from);

/* Reports the functions with such a caller and no return, after all functions. */
void code_say_called(struct code_check *cc);

#endif
