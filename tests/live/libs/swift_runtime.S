/*
 * What walks see of libswift_Concurrency.so:
 *
 *     runtime_run(context, function)  a job runner: calls the function with the context in r14 (x22)
 *     runtime_call(function)          any other function of it: calls back
 *     runtime_run_after(context, function, old)
 *                                     calls the job runner, and has a context of an earlier job in the register
 */
        .text
        .globl  runtime_run, runtime_call, runtime_run_after
        .type   runtime_run, %function
        .type   runtime_call, %function
        .type   runtime_run_after, %function

#if defined(__x86_64__)
        .p2align 4
runtime_run:
job_runner:
        .cfi_startproc
        push    %r14
        .cfi_def_cfa_offset 16
        .cfi_offset %r14, -16
        mov     %rdi, %r14
        call    *%rsi
        pop     %r14
        .cfi_def_cfa_offset 8
        ret
        .cfi_endproc
        .size   runtime_run, . - runtime_run

        .p2align 4
runtime_call:
        .cfi_startproc
        sub     $8, %rsp
        .cfi_def_cfa_offset 16
        call    *%rdi
        add     $8, %rsp
        .cfi_def_cfa_offset 8
        ret
        .cfi_endproc
        .size   runtime_call, . - runtime_call

        .p2align 4
runtime_run_after:
        .cfi_startproc
        push    %r14
        .cfi_def_cfa_offset 16
        .cfi_offset %r14, -16
        mov     %rdx, %r14
        call    job_runner
        pop     %r14
        .cfi_def_cfa_offset 8
        ret
        .cfi_endproc
        .size   runtime_run_after, . - runtime_run_after
#else
        .p2align 4
runtime_run:
job_runner:
        .cfi_startproc
        stp     x29, x30, [sp, #-32]!
        .cfi_def_cfa_offset 32
        .cfi_offset 29, -32
        .cfi_offset 30, -24
        str     x22, [sp, #16]
        .cfi_offset 22, -16
        mov     x22, x0
        blr     x1
        ldr     x22, [sp, #16]
        ldp     x29, x30, [sp], #32
        .cfi_def_cfa_offset 0
        ret
        .cfi_endproc
        .size   runtime_run, . - runtime_run

        .p2align 4
runtime_call:
        .cfi_startproc
        stp     x29, x30, [sp, #-16]!
        .cfi_def_cfa_offset 16
        .cfi_offset 29, -16
        .cfi_offset 30, -8
        blr     x0
        ldp     x29, x30, [sp], #16
        .cfi_def_cfa_offset 0
        ret
        .cfi_endproc
        .size   runtime_call, . - runtime_call

        .p2align 4
runtime_run_after:
        .cfi_startproc
        stp     x29, x30, [sp, #-32]!
        .cfi_def_cfa_offset 32
        .cfi_offset 29, -32
        .cfi_offset 30, -24
        str     x22, [sp, #16]
        .cfi_offset 22, -16
        mov     x22, x2
        bl      job_runner
        ldr     x22, [sp, #16]
        ldp     x29, x30, [sp], #32
        .cfi_def_cfa_offset 0
        ret
        .cfi_endproc
        .size   runtime_run_after, . - runtime_run_after
#endif
        .section .note.GNU-stack, "", %progbits
