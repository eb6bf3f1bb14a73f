/*
 * Addresses from standard input, many at once: sorted they need each part of a debug file once, and little of it at a
 * time.
 */
#ifndef CLI_SYMBOLIZE_ADDRESS_BATCH_H
#define CLI_SYMBOLIZE_ADDRESS_BATCH_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* Lines without an address that are shown. */
enum { ADDRESS_COMPLAINTS = 8 };

/* A line of input. */
struct address_line {
    uint64_t address;
    bool good;       /* it is an address */
    size_t at, size; /* its output, in the batch's */
};

struct address_batch {
    int fd;
    struct address_line *lines;
    size_t count, room;
    char *text; /* input without a newline yet */
    size_t text_size, text_room;
    uint64_t number; /* of the last line, from 1 */
    uint64_t bad;    /* lines without an address */
    bool ended;
    int error; /* errno of a failed read(); 0: none */
};

/* Hexadecimal, with or without 0x, and white space around it. */
bool address_parse(const char *text, uint64_t *out);

/*
 * Reads the next lines: until the input ends or pauses, or they are many. Complains of those without an address, of the
 * first ones.
 *
 * @return false: no more, or no memory (error)
 */
bool address_batch_read(struct address_batch *batch);

void address_batch_free(struct address_batch *batch);

#endif
