/* The two tables of a file that check_file.c makes, apart from the file around them. */
#ifndef SUPPORT_CHECK_TABLES_H
#define SUPPORT_CHECK_TABLES_H

#include "check_file.h"

/* A place that moves on as it is written. */
struct file_pen {
    struct file *f;
    size_t at;
};

static inline void file_put(struct file_pen *p, size_t width, uint64_t value)
{
    file_set(p->f, p->at, width, value);
    p->at += width;
}

static inline bool file_is_amd64(const struct file_plan *p)
{
    return p->abi == SFB_ABI_AMD64_LE;
}

/* What both tables describe. */
struct file_function file_function_of(const struct file_plan *plan, unsigned index);

/* @return its size */
size_t file_put_eh_frame(struct file *f, const struct file_plan *plan);

void file_put_sframe(struct file *f, const struct file_plan *plan);

#endif
