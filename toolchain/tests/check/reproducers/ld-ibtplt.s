# fault: `.plt` and `.plt.sec` of `-z ibtplt`
# codes: SF0408 SF0501 SF0506
# known: SF0408 SF0501 SF0506 SF0508 SF0801 SF0805 SF0808 SF0809 when PLT_SEC in .plt .plt.sec
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
