# fault: `--no-ld-generated-unwind-info` leaves linkage tables out of `.eh_frame`, and not out of `.sframe`
# codes: SF0508
# known: SF0508 in .plt .plt.got .plt.sec
# link: -shared -z lazy --no-ld-generated-unwind-info
 .text
 .globl f
 .type f, @function
f: .cfi_startproc
 call g@plt
 ret
 .cfi_endproc
 .size f, .-f
 .type h, @function
h: .cfi_startproc
 nop
 ret
 .cfi_endproc
 .size h, .-h
 .type i, @function
i: .cfi_startproc
 nop
 ret
 .cfi_endproc
 .size i, .-i
 .type j, @function
j: .cfi_startproc
 nop
 ret
 .cfi_endproc
 .size j, .-j
 .type k, @function
k: .cfi_startproc
 nop
 ret
 .cfi_endproc
 .size k, .-k
