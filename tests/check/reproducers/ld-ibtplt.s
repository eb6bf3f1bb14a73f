# fault: `.plt` and `.plt.sec` of `-z ibtplt`
# link: -shared -z lazy -z ibtplt
 .text
 .globl f
f: .cfi_startproc
 call one@PLT
 call two@PLT
 call three@PLT
 call four@PLT
 call five@PLT
 ret
 .cfi_endproc
