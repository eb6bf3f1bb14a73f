# fault: `--discard-sframe` leaves an empty section, and no segment
# codes: SF0120
# known: SF0120 SF0136 when DISCARDED
# link: -shared --discard-sframe
 .text
 .globl f
 .type f, @function
f: .cfi_startproc
 nop
 ret
 .cfi_endproc
 .size f, .-f
