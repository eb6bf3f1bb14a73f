/*
 * Rows against the machine code: what its files share.
 *
 *     insn.h           what an instruction does, for any machine
 *     frame_state.h    what is known of the frame at an instruction
 *     code_function.c  the rows and the instructions of a function
 *     code_bounds.c    where its rows begin, and it ends
 *     code_flow.c      the ways through it
 *     code_habits.h    what looks like a fault, and is none
 *     code_judge.c     what is known, against a row
 *     code_edges.c     jumps and calls from one function to another
 *     code.c           all of it, and what is counted
 */
#ifndef CHECK_CODE_H
#define CHECK_CODE_H

#include "check.h"
#include "frame_state.h"
#include "words.h"

/* Why a place could not be followed. */
enum code_gap {
    GAP_HEIGHT, /* nobody knows how far sp is from the CFA: alloca, an aligned stack */
    GAP_BLOCK,  /* nothing was seen to lead there */
    GAP_BYTES,  /* what stands there is no instruction that the decoder knows */
    GAP_LARGE,  /* more code or rows than are looked at */
    GAP_TRICK,  /* it returns to an address that it pushed */
    GAP_COUNT
};

struct code_check {
    struct check *c;
    struct decoder *decoder;
    struct machine machine;
    struct check_function *all; /* ascending by start */
    size_t count;
    uint64_t functions, insns;     /* that were gone through */
    uint64_t followed;             /* functions without a gap */
    uint64_t gaps[GAP_COUNT];      /* functions that have one of this kind */
    uint64_t code_left, rows_left; /* that may still be read */
};

struct code_row {
    uint64_t start; /* from the start of the function, or of an entry that repeats */
    struct sfb_rule rule;
    uint64_t position; /* where it stands */
    uint32_t index;
    bool usable; /* the rule says something */
    /* What is wrong with it, said once the whole function was gone through: */
    unsigned code; /* enum check_code; 0: nothing */
    uint64_t pc;
    char words[RULE_WORDS_SIZE];
};

/* Places where a function saves fp: more than one are seldom. */
enum { CODE_SAVES = 4 };

/* A function while it is looked at. */
struct code_function {
    struct code_check *cc;
    struct check_function f;
    uint64_t start, end;
    uint32_t repeat; /* its rows begin again after so many bytes; 0: they do not */
    struct code_row *rows;
    size_t row_count, row_capacity;
    struct insn *insns; /* ascending */
    size_t insn_count, insn_capacity;
    struct frame_state **states; /* of those that something leads to; else NULL */
    size_t state_count;
    uint8_t *marks; /* of each instruction: enum code_mark */
    size_t *queue;
    size_t queued;
    int64_t save[CODE_SAVES]; /* where fp is saved, from the CFA */
    unsigned saves;
    bool gaps[GAP_COUNT];
    bool open;    /* it was said that it goes on where no function is */
    bool telling; /* all is known: what differs is written down */
    bool tricks;  /* it returns to what it pushed: it says nothing of its frame */
};

enum code_mark {
    MARK_LEADER = 1,  /* something jumps there */
    MARK_VISITED = 2, /* something leads there */
    MARK_QUEUED = 4,
    MARK_HOLE = 8,  /* behind it are bytes that are no instruction */
    MARK_AGAIN = 32 /* the lowest of three bits: how often its state changed */
};

/* Reads its rows and instructions. @return false: no memory, or there is too much of it */
bool code_function_read(struct code_function *u, struct check_function f);

/* Forgets them; the memory is kept for the next one. */
void code_function_reset(struct code_function *u);
void code_function_free(struct code_function *u);

/* The row at a pc of the function; NULL: none. */
struct code_row *code_row_at(const struct code_function *u, uint64_t pc);

/* The instruction that begins there. @return insn_count: none does */
size_t code_insn_at(const struct code_function *u, uint64_t pc);

/* Goes all ways. @return false: no memory */
bool code_follow(struct code_function *u);

/* Looks at where its rows, its instructions and it itself begin and end. */
void code_judge_bounds(struct code_function *u);

/* Looks at what comes behind the last instruction, if it goes on. */
void code_judge_end(struct code_function *u, const struct insn *last, const struct frame_state *s);

/* Says that the code goes on where no function is. */
void code_say_open(struct code_function *u, const struct insn *i, uint64_t to,
                   const struct frame_state *s);

/* The function at a pc, the last one that starts before it; NULL: none covers it. */
const struct check_function *code_function_at(const struct code_check *cc, uint64_t pc);

/* What a row says that the code does not. @return 0: nothing; or the code of the finding */
unsigned code_difference(const struct frame_state *s, const struct machine *m,
                         const struct sfb_rule *rule);

/* Writes down that a row differs, once of each. @param why  NULL: what is known says it */
void code_note(struct code_function *u, enum check_code code, struct code_row *row, uint64_t pc,
               const struct frame_state *s, const char *why);

/* Says what was written down. */
void code_say(struct code_function *u);

/* What a jump or a call brings to another function. */
void code_edge(struct code_function *u, const struct insn *i, const struct frame_state *s);

#endif
