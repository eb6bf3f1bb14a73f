#include "support/contract_table.h"

#include <ctype.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/syscall.h>

static const char header[] =
    "| function | signal handler | threads | cancellation | stack | system calls |";

enum { CELLS = 6 };

/* Those that C libraries make of one function have one name. */
static const struct {
    const char *name;
    long number;
} calls[] = {
    { "rt_sigprocmask", SYS_rt_sigprocmask },
    { "rt_sigaction", SYS_rt_sigaction },
    { "sigaltstack", SYS_sigaltstack },
    { "mmap", SYS_mmap },
    { "mprotect", SYS_mprotect },
    { "munmap", SYS_munmap },
    { "fstat", SYS_fstat },
    { "fstat", SYS_newfstatat },
#ifdef SYS_readlink
    { "readlink", SYS_readlink },
#endif
    { "readlink", SYS_readlinkat },
    { "getpid", SYS_getpid },
    { "gettid", SYS_gettid },
    { "futex", SYS_futex },
};

enum { CALLS = sizeof calls / sizeof *calls };

long contract_call_number(const char *name)
{
    for (size_t i = 0; i < CALLS; i++)
        if (strcmp(calls[i].name, name) == 0)
            return calls[i].number;
    return -1;
}

const char *contract_call_name(long number)
{
    static contract_text text;

    for (size_t i = 0; i < CALLS; i++)
        if (calls[i].number == number)
            return calls[i].name;
    snprintf(text, sizeof text, "%ld", number);
    return text;
}

static char *read_text(const char *path)
{
    FILE *file = fopen(path, "r");
    char *text = NULL;
    size_t size = 0;

    if (!file)
        return NULL;
    if (getdelim(&text, &size, '\0', file) < 0) {
        free(text);
        text = NULL;
    }
    fclose(file);
    return text;
}

/*
 * All that stands between backquotes and ends as asked, without that end.
 *
 * @return how many, SIZE_MAX: too many, or one is too long
 */
static size_t quoted(contract_text *out, size_t max, const char *cell, const char *ending)
{
    size_t count = 0, end_size = strlen(ending);

    for (const char *at = cell, *close; (at = strchr(at, '`')); at = close + 1) {
        size_t size;

        at++;
        close = strchr(at, '`');
        if (!close)
            return SIZE_MAX;
        size = (size_t)(close - at);
        if (size < end_size || strncmp(close - end_size, ending, end_size) != 0)
            continue;
        size -= end_size;
        if (count == max || size >= sizeof *out)
            return SIZE_MAX;
        memcpy(out[count], at, size);
        out[count++][size] = '\0';
    }
    return count;
}

/* A word, and no other one that begins like it. */
static bool begins_with(const char *cell, const char *word)
{
    size_t size = strlen(word);

    cell += strspn(cell, " ");
    return strncmp(cell, word, size) == 0 && !isalnum((unsigned char)cell[size]);
}

/* @return whether it is one of two words, which is left in out */
static bool choice(bool *out, const char *cell, const char *yes, const char *no)
{
    *out = begins_with(cell, yes);
    return *out || begins_with(cell, no);
}

/* A number whose thousands may be set off by commas. */
static size_t number(const char *cell)
{
    size_t n = 0;

    for (cell += strspn(cell, " "); isdigit((unsigned char)*cell) || *cell == ','; cell++)
        if (*cell != ',')
            n = 10 * n + (size_t)(*cell - '0');
    return n;
}

static const char *read_row(struct contract_row *out, char *line)
{
    const char *cell[CELLS];

    (void)strsep(&line, "|");
    for (unsigned i = 0; i < CELLS; i++) {
        cell[i] = strsep(&line, "|");
        if (!cell[i] || !line)
            return "a row has too few cells";
    }
    *out = (struct contract_row){ 0 };
    out->function_count = quoted(out->function, CONTRACT_NAMES, cell[0], "()");
    out->call_count = quoted(out->call, CONTRACT_CALLS, cell[5], "");
    out->stack = number(cell[4]);
    if (out->function_count > CONTRACT_NAMES || out->call_count > CONTRACT_CALLS)
        return "a row has too many names, or too long ones";
    if (out->function_count == 0)
        return NULL;
    if (!choice(&out->in_handlers, cell[1], "yes", "no") ||
        !choice(&out->by_threads, cell[2], "yes", "no") ||
        !choice(&out->cancel_any, cell[3], "any", "deferred"))
        return "a row says neither yes nor no, or neither any nor deferred";
    if (out->stack == 0)
        return "a row has no stack size";
    for (size_t i = 0; i < out->call_count; i++)
        if (contract_call_number(out->call[i]) < 0)
            return "a row names a system call that is not known here";
    return out->call_count > 0 || begins_with(cell[5], "none") ? NULL
                                                               : "a row names no system call";
}

const char *contract_table_read(struct contract_table *out, const char *path)
{
    char *text = read_text(path), *rest;
    const char *wrong = NULL;

    out->row_count = 0;
    if (!text)
        return "the file cannot be read";
    rest = strstr(text, header);
    if (!rest) {
        free(text);
        return "there is no such table";
    }
    (void)strsep(&rest, "\n");
    (void)strsep(&rest, "\n"); /* |---|---| */
    while (rest && *rest == '|' && !wrong) {
        char *line = strsep(&rest, "\n");

        wrong = out->row_count == CONTRACT_ROWS ? "there are too many rows"
                                                : read_row(&out->row[out->row_count++], line);
    }
    free(text);
    return wrong;
}

const struct contract_row *contract_row_of(const struct contract_table *table, const char *function)
{
    const struct contract_row *found = NULL;

    for (size_t r = 0; r < table->row_count; r++)
        for (size_t i = 0; i < table->row[r].function_count; i++)
            if (strcmp(table->row[r].function[i], function) == 0) {
                if (found)
                    return NULL;
                found = &table->row[r];
            }
    return found;
}

size_t contract_functions(contract_text *out, size_t max, const char *path)
{
    static const char mark[] = "\nSFB_API ";
    char *text = read_text(path);
    size_t count = 0;

    for (char *at = text; at && (at = strstr(at, mark));) {
        char *end, *name;

        at += sizeof mark - 1;
        end = strchr(at, '(');
        if (!end)
            break;
        *end = '\0';
        name = end;
        while (name > at && (isalnum((unsigned char)name[-1]) || name[-1] == '_'))
            name--;
        if (count < max)
            snprintf(out[count], sizeof *out, "%s", name);
        count++;
        at = end + 1;
    }
    free(text);
    return count;
}
