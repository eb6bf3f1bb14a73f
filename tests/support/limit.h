/*
 * The limit of what a test waits for: a child, a line of shell, a program that is recorded. It only catches hangs, so it is
 * far beyond what a busy machine needs, and below the limit of the whole test (sfb_add_test()): what hangs is named.
 */
#ifndef SUPPORT_LIMIT_H
#define SUPPORT_LIMIT_H

enum { HANG_SECONDS = 600 };

#endif
