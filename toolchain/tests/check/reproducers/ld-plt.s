# fault: the repeat size of the first entry of `.plt`, which does not repeat
# codes: SF0218
# link: -shared -z lazy
 .text
 .globl f
f: .cfi_startproc
 call one@PLT
 call two@PLT
 ret
 .cfi_endproc
