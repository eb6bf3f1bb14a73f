# fault: `.cfi_signal_frame` is ignored: readers look up the pc of the interrupted code one byte off
# codes: SF0509 SF0514
# known: SF0509 SF0514 when SIGNAL
 .text
 .globl f
 .type f, @function
f: .cfi_startproc
 .cfi_signal_frame
 nop
 mov $15, %eax
 syscall
 .cfi_endproc
 .size f, .-f
