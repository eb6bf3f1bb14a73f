/*
 * Functions of x86-64 with a row each that .sframe version 1 cannot express, between the labels
 * odd_N and odd_N_end, and what .sframe can say around it. None of them is ever called.
 */
        .text

        .macro  function name
        .globl  f_\name
        .type   f_\name, @function
f_\name:
        .cfi_startproc
        nop
        .endm

        .macro  from name
        .globl  odd_\name
odd_\name:
        .endm

        .macro  to name
        nop
        .globl  odd_\name\()_end
odd_\name\()_end:
        .endm

        .macro  finish name
        ret
        .cfi_endproc
        .size   f_\name, . - f_\name
        .endm

        /* What a large frame with -fstack-clash-protection has. */
        function register
        from    register
        .cfi_def_cfa r11, 4104
        to      register
        .cfi_def_cfa rsp, 4104
        finish  register

        /* The body of an over-aligned function: CFA = *(rbp-8), and fp at rbp+0. */
        function memory
        from    memory
        .cfi_escape 0x0f, 3, 0x76, 0x78, 0x06
        .cfi_escape 0x10, 6, 2, 0x76, 0
        to      memory
        .cfi_def_cfa rsp, 8
        .cfi_restore rbp
        finish  memory

        function fp
        from    fp
        .cfi_escape 0x10, 6, 2, 0x76, 0
        to      fp
        .cfi_restore rbp
        finish  fp

        /* rsp + 8 + rcx * 1, and the word there */
        function two
        from    two
        .cfi_escape 0x0f, 6, 0x77, 8, 0x72, 0, 0x22, 0x06
        to      two
        .cfi_def_cfa rsp, 8
        finish  two

        function outermost
        from    outermost
        .cfi_undefined rip
        to      outermost
        .cfi_restore rip
        finish  outermost

        function ra
        from    ra
        .cfi_register rip, rdx
        to      ra
        .cfi_restore rip
        finish  ra

        function sp
        from    sp
        .cfi_register rsp, r8
        to      sp
        .cfi_restore rsp
        finish  sp

        function inside
        from    inside
        .cfi_def_cfa_offset 0
        to      inside
        .cfi_def_cfa_offset 8
        finish  inside

        .globl  f_signal
        .type   f_signal, @function
f_signal:
        .cfi_startproc
        .cfi_signal_frame
        from    signal
        to      signal
        .cfi_endproc
        .size   f_signal, . - f_signal

        .section .note.GNU-stack, "", @progbits
