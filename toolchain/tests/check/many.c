/*
 * A library of many functions, for what a search for causes costs and for what is there by chance: 300 functions with
 * five kinds of rows and sizes in turn, then FUNCTIONS whose rows and sizes are almost all of their own.
 */
// clang-format off
#define FRAME(size)                                                                                \
    ".cfi_startproc\n"                                                                             \
    "push %rbx\n"                                                                                  \
    ".cfi_def_cfa_offset 16\n"                                                                     \
    "sub $(" size "), %rsp\n"                                                                      \
    ".cfi_def_cfa_offset 16 + " size "\n"                                                          \
    ".fill fill, 1, 0x90\n"                                                                        \
    "add $(" size "), %rsp\n"                                                                      \
    ".cfi_def_cfa_offset 16\n"                                                                     \
    "pop %rbx\n"                                                                                   \
    ".cfi_def_cfa_offset 8\n"                                                                      \
    "ret\n"                                                                                        \
    ".cfi_endproc\n"

__asm__(".text\n"
        ".set n, 0\n"
        ".rept 300\n"
        ".set fill, n % 5 + 1\n"
        FRAME("(16 + 16 * (n % 5))")
        ".set n, n + 1\n"
        ".endr\n"
        ".set n, 0\n"
        ".rept " FUNCTIONS "\n"
        ".set fill, n % 97\n"
        FRAME("(256 + 16 * (n % 3001))")
        ".set n, n + 1\n"
        ".endr\n");
// clang-format on
