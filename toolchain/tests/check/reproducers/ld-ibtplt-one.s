# fault: the entry of `.plt.sec` reaches into `.text`, where the table has one entry
# codes: SF0205 SF0401 SF0501
# known: SF0205 SF0401 SF0501 when PLT_SEC
# link: -shared -z lazy -z ibtplt
 .text
 .globl f
f: .cfi_startproc
 call one@PLT
 ret
 .cfi_endproc
