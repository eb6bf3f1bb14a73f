/*
 * The words of a crash report's lines, for the writer (src/crash) and the reader (cli/crash_report.c).
 * docs/FORMATS.md, "Crash reports", has the whole grammar.
 *
 *     sframe-backtrace: crash: SIGSEGV (11) code SEGV_MAPERR (1) address 0x10 ...
 *     block rdi 0x1010 is 16 bytes into a live block of 64 bytes at 0x1000
 *     block cbf 02...
 *     cbf 02...
 *     module 0x1000-0x2000 build-id 0a1b /usr/lib/libfoo.so
 *     truncated: ...
 *     end
 */
#ifndef SFB_CRASH_GRAMMAR_H
#define SFB_CRASH_GRAMMAR_H

/* Start of a report's first line, and of the line for a failed part. */
#define SFB_CRASH_PREFIX "sframe-backtrace: crash: "

/* First words of lines, with the blank that ends them; the last line is its word alone. */
#define SFB_CRASH_BLOCK     "block "
#define SFB_CRASH_CBF       "cbf "
#define SFB_CRASH_FRAME     "frame "
#define SFB_CRASH_REPEATED  "repeated "
#define SFB_CRASH_OMITTED   "omitted "
#define SFB_CRASH_MODULE    "module "
#define SFB_CRASH_TRUNCATED "truncated: "
#define SFB_CRASH_COMPLETE  "complete"
#define SFB_CRASH_END       "end"

/* Between the parts of a line: of addresses, and before a build-id, which may be missing. */
#define SFB_CRASH_HEX         "0x"
#define SFB_CRASH_TO          "-"
#define SFB_CRASH_BUILD_ID    " build-id "
#define SFB_CRASH_NO_BUILD_ID "-"

#endif
